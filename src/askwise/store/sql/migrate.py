"""From an empty database, or one of an earlier version, to the present tables: in one transaction."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine, insert, inspect, select, text, update

from askwise.errors import StoreError
from askwise.store.chain import START
from askwise.store.facts import (
    Answer,
    Asked,
    ClassEdit,
    Fact,
    Item,
    Planned,
    Quarantine,
    Question,
    Round,
    Segment,
    Snapshot,
)
from askwise.store.sql.connecting import sqlite_engine
from askwise.store.sql.reading import Commit, Head
from askwise.store.sql.schema import VERSION, head, meta, metadata
from askwise.store.sql.writing import Writing

_OLD = "version1_"


def found_version(connection: Connection, name: str) -> int:
    """The version of the tables; 0 where there are none."""
    tables = inspect(connection).get_table_names()
    if tables and "meta" not in tables:
        raise StoreError(f"{name} is a database of another program; choose another name")
    found = tables and connection.scalar(select(meta.c.value).where(meta.c.name == "schema"))
    if not found:
        return 0
    if not str(found).isdecimal() or int(found) > VERSION:
        raise StoreError(
            f"store {name} has schema {found}, and this askwise knows up to {VERSION}; upgrade it"
        )
    return int(found)


def layout(connection: Connection, name: str) -> None:
    """Make the tables, or bring those of an earlier version up to date; a kill leaves them as they were."""
    if connection.dialect.name != "sqlite":  # two processes may find an empty database at the same time
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(20180730)")
    version = found_version(connection, name)
    if version == VERSION:
        if len(inspect(connection).get_table_names()) < len(metadata.tables):
            metadata.create_all(connection)  # a kind of fact that nobody had written when it was made
        return
    if version == 1:
        for table in ("commits", *_TABLES):
            connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {_OLD}{table}")
    metadata.create_all(connection)
    connection.execute(insert(head), {"id": 1, "revision": 0, "sum": START, "epoch": 0})
    if version == 1:
        _copy(connection, connection, name, prefix=_OLD)
        for table in ("commits", *_TABLES):
            connection.exec_driver_sql(f"DROP TABLE {_OLD}{table}")
        connection.execute(update(meta).values(value=str(VERSION)))
    else:
        connection.execute(insert(meta), {"name": "schema", "value": str(VERSION)})


def from_version_1(engine: Engine, name: str) -> Engine | None:
    """A copy in memory of a store of version 1, for those who only read; none if it is up to date."""
    with engine.connect() as connection:
        version = found_version(connection, name)
        if version == 0:
            raise StoreError(f"{name} holds no run yet; start one first")
        if version == VERSION:
            return None
        copy = sqlite_engine(None, read_only=True)
        with copy.begin() as target:
            layout(target, name)
            _copy(connection, target, name, prefix="")
        return copy


def _copy(source: Connection, target: Connection, name: str, *, prefix: str) -> None:
    facts: dict[int, list[Fact]] = {}
    for table, read in _TABLES.items():
        if table == "items":
            continue
        rows = source.execute(text(f"SELECT * FROM {prefix}{table} ORDER BY revision, rowid"))  # noqa: S608
        for revision, fact in read(dict(row) for row in rows.mappings()):
            facts.setdefault(revision, []).append(fact)
    now = Head(Commit(), 0)
    for revision, at in source.execute(text(f"SELECT revision, at FROM {prefix}commits ORDER BY revision")):  # noqa: S608
        order = text(f"SELECT id FROM {prefix}items WHERE revision = :revision ORDER BY rowid")  # noqa: S608
        writing = Writing(target, name, now)
        writing.add(facts.pop(revision, []))
        if now.commit.revision + 1 != revision:
            raise StoreError(f"store {name} is damaged: revision {now.commit.revision + 1} is not there")
        writing.add(Item(id=found) for (found,) in source.execute(order, {"revision": revision}))
        now = Head(writing.finish(at=at), 0)


Rows = Iterator[dict[str, Any]]
Read = Iterator[tuple[int, Fact]]


def _plain(kind: type[Fact], *coded: str) -> Callable[[Rows], Read]:
    def read(rows: Rows) -> Read:
        for row in rows:
            revision = row.pop("revision")
            yield revision, kind(**{k: json.loads(v) if k in coded else v for k, v in row.items()})

    return read


def _plans(rows: Rows) -> Read:
    """Plans in today's words."""
    words = {"train": "start", "recalibrate": "calibrate"}
    for row in rows:
        plan = {words.get(key, key): value for key, value in json.loads(row["plan"]).items()}
        training = plan.get("training") or {}
        if "batch" in training:
            plan["training"] = {"batch_size" if k == "batch" else k: v for k, v in training.items()}
        for part in ("initial", "validation", "test"):
            if isinstance(plan.get(part), dict):
                plan[part] = {k: v for k, v in plan[part].items() if k != "use"}  # a remark, not a choice
        yield row["revision"], Planned(plan=plan)


def _classes(rows: Rows) -> Read:
    known: set[int] = set()
    for row in rows:
        edit = "rename" if row["position"] in known else "add"
        known.add(row["position"])
        yield row["revision"], ClassEdit(edit=edit, number=row["position"], name=row["name"])


def _answers(rows: Rows) -> Read:
    for row in rows:
        yield (
            row["revision"],
            Answer(
                id=row["id"],
                key=_key(row["id"], row["key"]),
                verdict=row["kind"],
                label=row["label"],
                annotator=row["author"],
            ),
        )


def _key(name: str, key: str) -> str:
    """What the key was before version 1 made one of key and item of it."""
    try:
        first, second = ast.literal_eval(key)
    except (ValueError, TypeError, SyntaxError):
        return key
    return str(first) if second == name else f"#{second}"


def _turns(rows: Rows) -> Read:
    turns: Counter[int] = Counter()
    for row in rows:
        row["seconds"] = json.loads(row["seconds"])
        yield row.pop("revision"), Asked(turn=turns[row["round"]], **row)
        turns[row["round"]] += 1


_TABLES: dict[str, Callable[[Rows], Read]] = {
    "classes": _classes,
    "segments": _plain(Segment, "conditions", "changed"),
    "plans": _plans,
    "items": _plain(Item),
    "asked": _turns,
    "questions": _plain(Question),
    "answers": _answers,
    "quarantines": _plain(Quarantine),
    "snapshots": _plain(Snapshot),
    "rounds": _plain(Round, "metrics", "seconds"),
}

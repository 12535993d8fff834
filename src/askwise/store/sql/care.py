"""Whether a store is whole, and what can be saved of one that is not."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import merge
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, select
from sqlalchemy.exc import DBAPIError

from askwise.errors import AskwiseError, CorruptError, InputError, StoreError
from askwise.store.facts import FACTS, Fact
from askwise.store.ledger import Ledger
from askwise.store.rows import KINDS
from askwise.store.sql import connecting
from askwise.store.sql.migrate import found_version
from askwise.store.sql.reading import Commit, Head, checked_commit, checked_fact
from askwise.store.sql.schema import TABLES, VERSION, commits, head
from askwise.store.sql.store import SqlStore
from askwise.store.sql.writing import Writing

_ROWS = 10_000


def check(target: str | Path) -> list[str]:
    """What is wrong with a store, each with its revision; nothing if it is whole. It reads everything."""
    store = SqlStore(target, access="read")
    try:
        with store._reading() as connection:
            problems = _pages_problems(connection)
            problems += _chain_problems(connection, store.name)
        if not problems:
            problems += _count_problems(store)
    except AskwiseError as error:
        problems = [str(error)]
    finally:
        store.close()
    return problems


def _pages_problems(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
    return [] if found == ["ok"] else [f"SQLite: {line}" for line in found]


def _chain_problems(connection: Connection, name: str) -> list[str]:
    """Every commit is the one written, follows the one before, and has exactly its facts."""
    problems: list[str] = []
    facts = merge(*(_sums(connection, kind, name) for kind in FACTS))
    waiting = next(facts, None)
    before, counts = Commit(), dict[str, int]()
    last = connection.scalar(select(head.c.revision)) or 0
    for row in connection.execute(select(commits).order_by(commits.c.revision)):
        revision = before.revision + 1
        try:
            commit = checked_commit(list(row), name, revision)
        except CorruptError as error:
            return [*problems, str(error)]
        if commit.previous != before.sum:
            problems.append(f"revision {revision} does not follow the one before")
        content = sha256()
        while waiting is not None and waiting[1] <= revision:
            seq, of, total, kind = waiting
            if of != revision or not before.last < seq <= commit.last:
                problems.append(f"fact {seq} is not one of revision {revision}")
            content.update(total)
            counts[kind] = counts.get(kind, 0) + 1
            waiting = next(facts, None)
        if content.hexdigest() != commit.content:
            problems.append(f"the facts of revision {revision} are not the ones written")
        kinds = {kind.__name__ for kind in FACTS}
        if {k: n for k, n in commit.counts().items() if k in kinds and n} != counts:
            problems.append(f"revision {revision} has not as many facts as it says")
        before = commit
    if before.revision != last:
        problems.append(f"the last revision is {before.revision}, and the head says {last}")
    if waiting is not None:
        problems.append(f"fact {waiting[0]} belongs to no revision")
    return problems


def _sums(connection: Connection, kind: type[Fact], name: str) -> Iterator[tuple[int, int, bytes, str]]:
    """Seq, revision and sum of every fact of one kind, each found right."""
    table, above = TABLES[kind], -1
    while True:
        order = select(table).where(table.c.seq > above).order_by(table.c.seq).limit(_ROWS)
        rows = connection.execute(order).fetchall()
        for row in rows:
            fact = checked_fact(KINDS[kind], row, name)
            yield fact.seq, fact.revision, row[-1], kind.__name__
        if len(rows) < _ROWS:
            return
        above = rows[-1][0]


def _count_problems(store: SqlStore) -> list[str]:
    found, said = Ledger(store).refresh().places(), store.places()
    return [] if found == said else [f"items stand at {found}, and the last revision says {said}"]


@dataclass
class Recovered:
    """What was saved, by kind of fact, and what was lost, each with its revision."""

    saved: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def recover(source: str | Path, target: str | Path) -> Recovered:
    """Save every sound fact of a damaged store into a new one, under the same revisions."""
    if not connecting.is_url(target) and Path(target).exists():
        raise InputError(f"{target} is there already; name a new file")
    found = Recovered()
    engine, name = _opened(source)
    try:
        with connecting.told(name), connecting.sensible(name), engine.connect() as connection:
            if found_version(connection, name) != VERSION:
                raise StoreError(
                    f"store {name} is of an earlier version; open it once, to bring it up to date"
                )
            known = _commits(connection, name)
            facts = _facts(connection, known)
    finally:
        engine.dispose()
    store = SqlStore(target)
    try:
        with connecting.told(store.name), store._writing() as connection:
            _rebuild(connection, store, known, facts, found)
    finally:
        store.close()
    return found


def _opened(source: str | Path) -> tuple[Engine, str]:
    if connecting.is_url(source):
        url, _ = connecting.server_url(str(source))
        return connecting.postgres_engine(url), url.render_as_string()
    path = Path(source).absolute()
    connecting.check_path(path, read_only=True)
    return connecting.sqlite_engine(path, read_only=True), str(source)


def _rebuild(
    connection: Connection,
    store: SqlStore,
    known: dict[int, Commit],
    facts: dict[int, list[Fact]],
    found: Recovered,
) -> None:
    now = Head(Commit(), 0)
    last = max([0, *known, *facts])
    before: dict[str, int] | None = {}
    for revision in range(1, last + 1):
        commit, own = known.get(revision), sorted(facts.get(revision, []), key=lambda fact: fact.seq)
        if commit is None:
            found.lost.append(f"revision {revision}: its commit; {len(own)} facts of it are saved")
        elif before is not None:
            found.lost += _lost(revision, commit.counts(), before, own)
        before = None if commit is None else commit.counts()
        writing = Writing(connection, store.name, now)
        writing.add(own, keep=True)
        writing.epoch = commit.epoch if commit else now.epoch
        now = Head(writing.finish(at=commit.at if commit else ""), writing.epoch)
    for kind in FACTS:
        number = now.commit.counts().get(kind.__name__, 0)
        if number:
            found.saved[kind.__name__] = number


def _lost(revision: int, after: dict[str, int], before: dict[str, int], own: list[Fact]) -> list[str]:
    lost = []
    for kind in FACTS:
        name = kind.__name__
        missing = after.get(name, 0) - before.get(name, 0) - sum(type(fact) is kind for fact in own)
        if missing > 0:
            lost.append(f"revision {revision}: {missing} {name}")
    return lost


def _commits(connection: Connection, name: str) -> dict[int, Commit]:
    try:
        last = int(connection.scalar(select(head.c.revision)) or 0)
    except (DBAPIError, ValueError, TypeError):
        last = 0
    sound: dict[int, Commit] = {}
    for row in _every(connection, commits, "revision", last):
        try:
            sound[row[0]] = checked_commit(list(row), name, row[0])
        except (CorruptError, TypeError):
            continue  # told when its revision is rebuilt
    return sound


def _facts(connection: Connection, known: dict[int, Commit]) -> dict[int, list[Fact]]:
    last = max((commit.last for commit in known.values()), default=0)
    sound: dict[int, list[Fact]] = {}
    for kind in FACTS:
        for row in _every(connection, TABLES[kind], "seq", last):
            try:
                fact = checked_fact(KINDS[kind], row, "")
            except (CorruptError, TypeError, ValueError):
                continue
            sound.setdefault(fact.revision, []).append(fact)
    return sound


def _every(connection: Connection, table: Table, key: str, last: int) -> Iterator[Any]:
    """All rows that can be read; around a page that cannot, as narrowly as possible.

    The bound matters: where the last page is destroyed, every look beyond it fails.
    """
    column = table.c[key]
    ranges = [(0, last), (last + 1, 2**62)]
    while ranges:
        low, high = ranges.pop()
        order = select(table).where(column >= low, column <= high).order_by(column)
        try:
            yield from connection.execute(order).fetchall()
        except (DBAPIError, ValueError, TypeError, OverflowError):
            if low == high or low > last:
                continue
            middle = (low + high) // 2
            ranges += [(middle + 1, high), (low, middle)]

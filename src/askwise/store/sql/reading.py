"""Verified reading: no row leaves here whose sum is not its own."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, and_, func, select

from askwise.errors import CorruptError, command
from askwise.store.chain import START, commit_sum, row_sum
from askwise.store.facts import ABOUT, About, Fact, Item, Question
from askwise.store.rows import KINDS, Kind
from askwise.store.sql.schema import TABLES, commits, head

_MANY = 500  # values in one IN


@dataclass(frozen=True)
class Commit:
    """A commit as it was written; `totals` counts facts by kind and items by place, up to here."""

    revision: int = 0
    at: str = ""
    epoch: int = 0
    last: int = 0
    totals: str = "{}"
    content: str = ""
    previous: str = START
    sum: str = START

    def counts(self) -> dict[str, int]:
        """How many facts of each kind, and items in each place, there are."""
        found: dict[str, int] = json.loads(self.totals)
        return found

    def right_sum(self) -> str:
        """The sum that it should have."""
        return commit_sum([getattr(self, name) for name in _COLUMNS[:-1]])


_COLUMNS = ("revision", "at", "epoch", "last", "totals", "content", "previous", "sum")


@dataclass(frozen=True)
class Head:
    """The last commit, and the epoch of the present trainer."""

    commit: Commit
    epoch: int


def read_head(connection: Connection, name: str, *, lock: bool = False) -> Head:
    """Where the store is; with `lock` nobody else appends until the transaction ends."""
    if lock and connection.dialect.name != "sqlite":  # there the transaction holds the file
        connection.execute(select(head.c.id).with_for_update())
    order = select(head.c.revision, head.c.sum, head.c.epoch, commits).outerjoin(
        commits, and_(commits.c.revision == head.c.revision)
    )
    rows = connection.execute(order).fetchall()
    if len(rows) != 1:
        raise CorruptError(f"store {name} is damaged: its head has {len(rows)} rows; {_mend(name)}")
    revision, total, epoch, *columns = rows[0]
    commit = Commit() if revision == 0 and total == START else checked_commit(columns, name, revision)
    if commit.sum != total or not isinstance(epoch, int):
        raise CorruptError(f"store {name} is damaged: its head is not revision {revision}; {_mend(name)}")
    return Head(commit, epoch)


def read_commit(connection: Connection, name: str, revision: int) -> Commit:
    """One commit; the one before the first is empty."""
    if revision == 0:
        return Commit()
    row = connection.execute(select(commits).where(commits.c.revision == revision)).first()
    return checked_commit(list(row) if row else [], name, revision)


def checked_commit(columns: Sequence[Any], name: str, revision: int) -> Commit:
    """The commit of a row, if it is the one that was written."""
    if len(columns) == len(_COLUMNS) and isinstance(columns[0], int):
        found = Commit(*columns)
        try:
            if found.right_sum() == found.sum and found.revision == revision:
                return found
        except (TypeError, UnicodeError):
            pass
    raise CorruptError(f"store {name} is damaged: revision {revision} is not the one written; {_mend(name)}")


def checked_fact(kind: Kind, row: Sequence[Any], name: str) -> Fact:
    """The fact of a row, if it is the one that was written."""
    try:
        if kind.sum(row[:-1]) == row[-1]:
            return kind.fact(row[:-1])
    except TypeError:
        pass
    raise CorruptError(
        f"store {name} is damaged: fact {row[0]} of revision {row[1]} ({kind.name}) "
        f"is not the one written; {_mend(name)}"
    )


def page(
    connection: Connection, kind: type[Fact], name: str, *, above: int, upto: int, most: int
) -> list[Fact]:
    """The next facts of one kind with a seq above `above`."""
    table, layout = TABLES[kind], KINDS[kind]
    order = select(table).where(table.c.seq > above, table.c.seq <= upto).order_by(table.c.seq).limit(most)
    return [checked_fact(layout, row, name) for row in connection.execute(order)]


def last(connection: Connection, kind: type[Fact], name: str, now: Commit) -> Fact | None:
    """The last fact of a kind up to a commit; that none is hidden behind it is told by their number."""
    wanted = now.counts().get(kind.__name__, 0)
    if not wanted:
        return None
    table = TABLES[kind]
    known = table.c.seq <= now.last
    found = connection.scalar(select(func.count()).select_from(table).where(known)) or 0
    row = connection.execute(select(table).where(known).order_by(table.c.seq.desc()).limit(1)).first()
    if row is None or found != wanted:
        raise missing(name, kind.__name__, wanted, found)
    return checked_fact(KINDS[kind], row, name)


def page_of_ids(connection: Connection, name: str, *, above: int, upto: int, most: int) -> list[Any]:
    """Seq and id of the next items: `page` without a record for each of a million of them."""
    table = TABLES[Item]
    order = select(table).where(table.c.seq > above, table.c.seq <= upto).order_by(table.c.seq).limit(most)
    rows = connection.execute(order).fetchall()
    for row in rows:
        if row_sum(Item.__name__, row[:-1]) != row[-1]:
            checked_fact(KINDS[Item], row, name)
    return [(seq, identity) for seq, _, identity, _ in rows]


def about(
    connection: Connection, ids: Collection[str], name: str, counts: dict[str, int]
) -> dict[str, list[About]]:
    """What decides where each of these items stands, in order and without a gap."""
    found: dict[str, list[About]] = {}
    for kind in ABOUT:
        if not counts.get(kind.__name__):
            continue
        table, layout = TABLES[kind], KINDS[kind]
        for some in chunks(ids, _MANY):
            for row in connection.execute(select(table).where(table.c.id.in_(some))):
                fact = checked_fact(layout, row, name)
                if isinstance(fact, About):
                    found.setdefault(fact.id, []).append(fact)
    for identity, history in found.items():
        history.sort(key=lambda fact: fact.seq)
        unbroken(identity, history, name)
    return found


def only_asked(
    connection: Connection, ids: Collection[str], name: str, counts: dict[str, int]
) -> dict[str, Question]:
    """The last question about each item that was only ever asked, the last time to be learned from.

    An item may be asked by every model until somebody answers: its older questions are not read again.
    """
    found: dict[str, Question] = {}
    table = TABLES[Question]
    for some in chunks(ids, _MANY) if counts.get(Question.__name__) else ():
        said: set[str] = set()
        for kind in ABOUT:
            if kind is not Question and counts.get(kind.__name__):
                column = TABLES[kind].c.id
                said.update(connection.scalars(select(column).where(column.in_(some)).distinct()))
        alone = [identity for identity in some if identity not in said]
        newest = select(func.max(table.c.seq)).where(table.c.id.in_(alone)).group_by(table.c.id)
        for row in connection.execute(select(table).where(table.c.seq.in_(newest))):
            fact = checked_fact(KINDS[Question], row, name)
            if isinstance(fact, Question) and fact.kind == "learn":
                found[fact.id] = fact
    return found


def unbroken(identity: str, history: Sequence[About], name: str, *, wanted: int | None = None) -> None:
    """Refuse facts about an item with a gap among them: an index has no sums, and may be damaged."""
    nths = [fact.nth for fact in history]
    if nths != list(range(len(nths) if wanted is None else wanted)):
        raise CorruptError(
            f"store {name} is damaged: facts about item {identity!r} are hidden, the last one found is of "
            f"revision {history[-1].revision if history else 0}; {_mend(name)}"
        )


def chunks(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The values in lists of at most `size`."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some


def missing(name: str, kind: str, wanted: int, found: int) -> CorruptError:
    """What to say where facts have vanished."""
    return CorruptError(
        f"store {name} is damaged: it has {found} facts of {kind} where {wanted} were written; {_mend(name)}"
    )


def _mend(name: str) -> str:
    return f"save the rest: {command('store', 'recover', name, 'NEW')}"

"""One commit: facts get their places and sums, what follows from them is noted, and the chain grows."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from sqlalchemy import Connection, select, update

from askwise.store.chain import row_sum
from askwise.store.facts import (
    ABOUT,
    MOVING_EDITS,
    RULES,
    About,
    Answer,
    ClassEdit,
    Fact,
    Item,
    Quarantine,
    Question,
)
from askwise.store.rows import KINDS
from askwise.store.sql import slots
from askwise.store.sql.reading import Commit, Head, about, checked_fact, chunks, missing, only_asked
from askwise.store.sql.schema import TABLES, commits, head
from askwise.store.standing import Rules, moves_labels, rules, standing, tied

_ROWS = 10_000  # rows sent to the database at a time: a million items are never held twice
_PLACES = ("open", "labelled", "skipped", "quarantined")
_MOVES = "moves"  # how many facts there are that may change the labels of items they do not name


def _asks(fact: Fact) -> bool:
    return isinstance(fact, Question) and fact.kind == "learn"


class Writing:
    """A commit in the making, inside a transaction that holds the head."""

    def __init__(self, connection: Connection, name: str, now: Head) -> None:
        self._connection, self._name, self._before = connection, name, now
        self._counts = now.commit.counts()
        self._last = now.commit.last
        self._content = sha256()
        self._revision = now.commit.revision + 1
        self.epoch = now.epoch
        self._rules: Rules | None = None
        self._recount = False
        self._tied: dict[str, Question] = {}

    def add(self, facts: Iterable[Fact], *, keep: bool = False) -> None:
        """Write the facts, some thousands at a time; with `keep` they have their places already."""
        for _ in self.added(facts, keep=keep):
            pass

    def added(self, facts: Iterable[Fact], *, keep: bool = False) -> Iterator[Fact]:
        """The facts as they are stored by then."""
        for some in chunks(facts, _ROWS):
            if not keep and all(type(fact) is Item for fact in some):
                self._add_items(some)
                continue
            placed = self._numbered([self._placed(fact, keep) for fact in some])
            sums: dict[int, bytes] = {}
            for kind in dict.fromkeys(map(type, placed)):
                layout = KINDS[kind]
                names = ("seq", "revision", *layout.fields, "sum")
                rows = []
                for fact in placed:
                    if type(fact) is kind:
                        row = [fact.seq, fact.revision, *layout.values(fact)]
                        sums[fact.seq] = layout.sum(row)
                        rows.append(dict(zip(names, [*row, sums[fact.seq]], strict=True)))
                self._connection.execute(TABLES[kind].insert(), rows)
                self._counts[kind.__name__] = self._counts.get(kind.__name__, 0) + len(rows)
            for fact in placed:
                self._content.update(sums[fact.seq])
            self._follow(placed)
            yield from placed

    def _add_items(self, items: Sequence[Item]) -> None:
        """What `added` does, without a record for each of a million items: nothing follows from them."""
        rows, revision = [], self._revision
        for seq, item in enumerate(items, self._last + 1):
            total = row_sum(Item.__name__, (seq, revision, item.id))
            self._content.update(total)
            rows.append({"seq": seq, "revision": revision, "id": item.id, "sum": total})
        self._connection.execute(TABLES[Item].insert(), rows)
        self._last += len(rows)
        self._counts[Item.__name__] = self._counts.get(Item.__name__, 0) + len(rows)

    def finish(self, *, at: str | None = None) -> Commit:
        """The commit, written as the new head."""
        if self._recount:
            self._count_all()
        commit = Commit(
            self._revision,
            datetime.now(UTC).isoformat() if at is None else at,
            self.epoch,
            self._last,
            json.dumps(self._counts, separators=(",", ":"), sort_keys=True),
            self._content.hexdigest(),
            self._before.commit.sum,
        )
        commit = replace(commit, sum=commit.right_sum())
        self._connection.execute(commits.insert(), commit.__dict__)
        self._connection.execute(
            update(head).values(revision=commit.revision, sum=commit.sum, epoch=commit.epoch)
        )
        return commit

    def _placed(self, fact: Fact, keep: bool) -> Fact:
        self._last = fact.seq if keep else self._last + 1
        own = {"question": f"q{self._last}"} if isinstance(fact, Question) and not fact.question else {}
        return replace(fact, seq=self._last, revision=self._revision, **own)

    def _numbered(self, facts: list[Fact]) -> list[Fact]:
        """The facts with their place among those about the same item; items that move are counted."""
        moves = sum(map(moves_labels, facts))
        if moves:
            self._recount = True
            self._counts[_MOVES] = self._counts.get(_MOVES, 0) + moves
        touched: dict[str, list[About]] = {}
        for fact in facts:
            if isinstance(fact, About):
                touched.setdefault(fact.id, [])
        if not touched:
            return facts
        told = {fact.id for fact in facts if isinstance(fact, About) and not _asks(fact)}
        waiting = only_asked(self._connection, touched.keys() - told, self._name, self._counts)
        before = about(self._connection, touched.keys() - waiting.keys(), self._name, self._counts)
        found: list[Fact] = []
        for fact in facts:
            if isinstance(fact, About):
                last = waiting.get(fact.id)
                known = len(before.get(fact.id, [])) if last is None else last.nth + 1
                fact = replace(fact, nth=known + len(touched[fact.id]))
                touched[fact.id].append(fact)
            found.append(fact)
        if not self._recount:
            how = self._rules_now()
            for name, new in touched.items():
                if name in waiting:  # and waits on
                    continue
                past = before.get(name, [])
                self._move(standing(past, how).place if past else "", -1)
                self._move(standing([*past, *new], how).place, 1)
                if tied([*past, *new], how):
                    self._tied |= {one.question: one for one in [*past, *new] if isinstance(one, Question)}
        return found

    def _move(self, place: str, by: int) -> None:
        if place in _PLACES:
            self._counts[place] = self._counts.get(place, 0) + by

    def _rules_now(self) -> Rules:
        if self._rules is None:
            found: list[Fact] = []
            for kind in RULES if self._counts.get(_MOVES) else ():
                order = select(TABLES[kind])
                if kind is ClassEdit:  # there may be thousands of classes, and few of them are edited
                    order = order.where(TABLES[kind].c.edit.in_(MOVING_EDITS))
                found += [
                    checked_fact(KINDS[kind], row, self._name) for row in self._connection.execute(order)
                ]
            if len(found) != self._counts.get(_MOVES, 0):
                raise missing(self._name, "rules", self._counts[_MOVES], len(found))
            self._rules = rules(sorted(found, key=lambda fact: fact.seq))
        return self._rules

    def _count_all(self) -> None:
        """Count every item anew: another policy, or a class that is gone, may move all of them."""
        self._rules = None
        how = self._rules_now()
        for place in _PLACES:
            self._counts[place] = 0
        known: set[str] = set()
        for kind in ABOUT:
            table = TABLES[kind]
            known.update(self._connection.scalars(select(table.c.id).distinct()))
        for some in chunks(sorted(known), _ROWS):
            for history in about(self._connection, some, self._name, self._counts).values():
                self._move(standing(history, how).place, 1)

    def _follow(self, facts: Collection[Fact]) -> None:
        """Bring the leases up to date."""
        asked = [fact for fact in facts if isinstance(fact, Question)]
        if asked:
            slots.offer(self._connection, asked)
        for fact in facts:
            if isinstance(fact, Answer) and fact.question:
                slots.answered(self._connection, fact)
                if fact.question in self._tied:
                    slots.one_more(self._connection, self._tied.pop(fact.question))
        barred = [fact for fact in facts if isinstance(fact, Quarantine)]
        if barred and self._counts.get(Question.__name__):
            slots.bar(self._connection, barred)

"""A store in memory: for tests, and for loops that need no resume."""

import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from secrets import token_hex

from askwise.errors import InputError, StaleError, StoreError
from askwise.store.contract import F, Lease, Places, Taker
from askwise.store.facts import ABOUT, GUARDED, ONCE, RULES, About, Answer, Fact, Item, Question
from askwise.store.standing import moves_labels, rules, standing, tally, tied


@dataclass
class _Slot:
    question: Question
    turn: int = 0
    annotator: str = ""
    token: str = ""
    until: float = 0.0

    def free(self) -> None:
        self.turn += 1
        self.annotator, self.token, self.until = "", "", 0.0


class MemoryStore:
    """Facts in lists."""

    name = "memory"
    folder = None

    def __init__(self) -> None:
        self.revision = 0
        self._seq = 0
        self._facts: dict[type[Fact], list[Fact]] = {}
        self._once: dict[tuple[object, ...], Fact] = {}
        self._about: dict[str, list[About]] = {}
        self._places: dict[str, str] = {}
        self._slots: list[_Slot] = []
        self._times: dict[int, str] = {}
        self._lock = threading.RLock()

    def append(self, facts: Iterable[Fact], *, expect: int | None = None) -> int:
        """The revision under which the facts are kept."""
        with self._lock:
            if expect is not None and expect != self.revision:
                at = self.revision
                raise StaleError(f"store {self.name} is at revision {at}, not {expect}; read it again")
            self._add(list(facts), guarded=expect is not None)
            return self.revision

    def answer(self, answers: Sequence[Answer]) -> list[Answer]:
        """The answers as they are stored, in the same order: new ones now, replays as they were."""
        with self._lock:
            for answer in answers:
                asked = self._once.get((Question, ("question",), answer.question))
                if answer.question and (not isinstance(asked, Question) or asked.id != answer.id):
                    raise InputError(f"item {answer.id!r} was not asked by a question {answer.question!r}")
            new = {_marks(answer): answer for answer in reversed(answers)}
            self._add([one for one in answers if new[_marks(one)] is one and not self._there(one)])
            return [self._once[mark] for one in answers for mark in _marks(one)]  # type: ignore[misc]

    def facts(self, *kinds: type[F], since: int = 0) -> list[F]:
        """All facts of these kinds with a revision above `since`, in the order they were appended."""
        with self._lock:
            lists = []
            for kind in kinds:
                known = self._facts.get(kind, [])
                lists.append(known[bisect_right(known, since, key=lambda fact: fact.revision) :])
        return list(merge(*lists, key=lambda fact: fact.seq))  # type: ignore[arg-type]

    def last(self, kind: type[F]) -> F | None:
        """The last fact of a kind."""
        with self._lock:
            known = self._facts.get(kind)
            return known[-1] if known else None  # type: ignore[return-value]

    def touched(self, since: int) -> dict[str, list[About]]:
        """All that decides where an item stands, for each one that something happened to after a revision."""
        with self._lock:
            return {fact.id: list(self._about[fact.id]) for fact in self.facts(*ABOUT, since=since)}

    def ids(self) -> Iterator[str]:
        """The id of every item."""
        return (fact.id for fact in self.facts(Item))

    def count(self) -> int:
        """How many items there are."""
        return len(self._facts.get(Item, []))

    def places(self) -> Places:
        """Where the items stand."""
        with self._lock:
            return tally(self._places.values())

    def times(self, revisions: Collection[int]) -> dict[int, str]:
        """When these revisions were appended, in ISO 8601."""
        return {one: self._times[one] for one in sorted(revisions) if one in self._times}

    def lease(self, taker: Taker) -> Lease | None:
        """A question that the taker has neither answered nor holds; none if there is none free."""
        with self._lock:
            now = time.monotonic()
            held = [slot for slot in self._slots if slot.until > now]
            shown = {(slot.question.id, slot.question.kind): slot.question.question for slot in held}
            holds = {slot.question.question for slot in held if slot.annotator == taker.annotator}
            holds |= {
                fact.question
                for fact in self.facts(Answer)
                if fact.annotator == taker.annotator and fact.verdict in ("label", "cannot_tell")
            }
            free = [
                slot
                for slot in self._slots
                if slot.until <= now
                and slot.question.kind in taker.kinds
                and slot.question.question not in holds
                and shown.get((slot.question.id, slot.question.kind)) in (None, slot.question.question)
                and self._places.get(slot.question.id) != "quarantined"
            ]
            if not free:
                return None
            slot = min(
                free,
                key=lambda slot: (
                    slot.turn,
                    -slot.question.revision if taker.newest else 0,
                    slot.question.seq,
                ),
            )
            slot.annotator, slot.token, slot.until = taker.annotator, token_hex(16), now + taker.seconds
            return _lease(slot)

    def swap(self, back: Collection[Lease], taker: Taker, *, count: int) -> list[Lease]:
        """Up to `count` leases as `lease` gives them, after these are given back; all of it at once."""
        with self._lock:
            for lease in back:
                self.release(lease)
            found: list[Lease] = []
            while len(found) < count:
                one = self.lease(taker)
                if one is None:
                    break
                found.append(one)
        return found

    def renew(self, lease: Lease, *, seconds: int | float) -> Lease | None:
        """The lease with a new end; none if it is over."""
        with self._lock:
            for slot in self._slots:
                if slot.token == lease.token and slot.until > time.monotonic():
                    slot.until = time.monotonic() + seconds
                    return _lease(slot)
        return None

    def release(self, lease: Lease) -> None:
        """Give a question back unanswered; the others come before it."""
        with self._lock:
            for slot in self._slots:
                if slot.token == lease.token:
                    slot.free()

    def leases(self) -> list[Lease]:
        """The leases that are not over."""
        with self._lock:
            return [_lease(slot) for slot in self._slots if slot.until > time.monotonic()]

    def checkpoint(self, save: Callable[[Path], object], *, keep: Collection[str]) -> str:  # noqa: ARG002
        """Nothing is kept: the models die with the process too."""
        return ""

    def close(self) -> None:
        """Nothing to let go of."""

    def _add(self, facts: list[Fact], *, guarded: bool = False) -> None:
        new: list[Fact] = []
        met: Counter[str] = Counter()
        for place, fact in enumerate(facts, self._seq + 1):
            if guarded and not isinstance(fact, GUARDED):
                raise InputError(f"a {type(fact).__name__} is not appended by an expected revision")
            stored = replace(fact, revision=self.revision + 1, seq=place)
            if isinstance(stored, Question) and not stored.question:
                stored = replace(stored, question=f"q{place}")
            if isinstance(stored, About):
                stored = replace(stored, nth=len(self._about.get(stored.id, [])) + met[stored.id])
                met[stored.id] += 1
            new.append(stored)
        marks = [(mark, fact) for fact in new for mark in _marks(fact)]
        if len(dict(marks)) < len(marks) or any(mark in self._once for mark, _ in marks):
            raise StoreError(f"store {self.name}: a fact of {type(new[0]).__name__} is there already")
        self._once.update(marks)
        for fact in new:
            self._facts.setdefault(type(fact), []).append(fact)
            if isinstance(fact, About):
                self._about.setdefault(fact.id, []).append(fact)
            self._follow(fact)
        self._seq += len(new)
        self.revision += bool(new)
        if new:
            self._times[self.revision] = datetime.now(UTC).isoformat()
        touched = {fact.id for fact in new if isinstance(fact, ABOUT)}
        how = rules(self.facts(*RULES))
        again = any(map(moves_labels, new))
        for name in self._about if again else touched:
            self._places[name] = standing(self._about[name], how).place
        for fact in new if not again else ():
            if isinstance(fact, Answer) and fact.question and tied(self._about[fact.id], how):
                self._one_more(fact)

    def _one_more(self, answer: Answer) -> None:
        """A slot for a question whose answers are a tie, unless it has one."""
        if not any(slot.question.question == answer.question for slot in self._slots):
            about = self._about[answer.id]
            asked = (fact for fact in about if isinstance(fact, Question))
            self._slots += [_Slot(fact) for fact in asked if fact.question == answer.question]

    def _there(self, fact: Fact) -> bool:
        return any(mark in self._once for mark in _marks(fact))

    def _follow(self, fact: Fact) -> None:
        """Bring the leases up to date."""
        if isinstance(fact, Question):
            self._slots = [
                slot
                for slot in self._slots
                if (slot.question.id, slot.question.kind) != (fact.id, fact.kind)
                or slot.until > time.monotonic()
            ]
            self._slots += [_Slot(fact) for _ in range(fact.needed)]
        if not isinstance(fact, Answer) or not fact.question:
            return
        asked = [slot for slot in self._slots if slot.question.question == fact.question]
        own = [slot for slot in asked if slot.annotator == fact.annotator]
        if fact.verdict in ("skip", "retract"):
            for slot in own:
                slot.free()
            return
        kinds = {slot.question.kind for slot in asked}
        self._slots = [
            slot
            for slot in self._slots
            if slot.question.id != fact.id
            or slot.question.question == fact.question
            or slot.question.kind not in kinds
            or slot.until > time.monotonic()
        ]
        again = any(
            isinstance(past, Answer)
            and (past.question, past.annotator) == (fact.question, fact.annotator)
            and past.verdict in ("label", "cannot_tell")
            and past.seq < fact.seq
            for past in self._about[fact.id]
        )
        free = [] if again else [slot for slot in asked if slot.until <= time.monotonic()]
        if own or free:
            self._slots.remove((own or free)[0])
        for slot in [] if again else [one for one in self._slots if one.question.question == fact.question]:
            slot.turn = -1


def _lease(slot: _Slot) -> Lease:
    return Lease(slot.question, slot.annotator, slot.token, slot.until)


def _marks(fact: Fact) -> tuple[tuple[object, ...], ...]:
    kind = type(fact)
    return tuple((kind, names, *(getattr(fact, name) for name in names)) for names in ONCE.get(kind, ()))

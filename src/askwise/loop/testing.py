"""The part of the pool that is kept for testing: which items, their order of asking, what was said."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar

from askwise.assess.band import LEAST
from askwise.errors import InputError
from askwise.loop.plan import Plan, make
from askwise.seeding import derive, hashes
from askwise.store.contract import Store
from askwise.store.facts import Answer, Fact, Group, Item, Planned, Question, Resolution, Round
from askwise.store.labels import Label
from askwise.store.ledger import Ledger
from askwise.store.standing import Standing, standing

KEPT = "kept"
"""Where a round notes how many items are kept for testing."""
_WHOLE = 2**56  # hashes are whole numbers below this
_F = TypeVar("_F", bound=Fact)


@dataclass(frozen=True)
class Tested:
    """A test item that was asked: its label, or none if it was skipped or the model's guess was seen."""

    id: str
    label: Label | None


@dataclass
class Testing:
    """The region of one run, by the facts: a subset of the pool that is uniform and never trained on.

    An item is in the region if the hash of its id (with groups, of its group) is small enough, unless it
    was labelled before anything was asked. Answers to test questions leave no trace in the ledger, so what
    is known there is not in the region.
    """

    store: Store
    ledger: Ledger
    share: float = 0.0
    asked: dict[str, Question] = field(default_factory=dict)
    """The last test question about each item, in the order in which the items were first asked."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    """What was said in answer to test questions, by item."""
    words: dict[str, list[Resolution]] = field(default_factory=dict)
    """The words on each item, where somebody has settled its answers; the last one counts."""
    learned: set[str] = field(default_factory=set)
    """Items that answered a question to learn from."""
    begun: bool = False
    """Whether anything was asked."""
    groups: dict[str, str] = field(default_factory=dict)
    ready: Set[str] | None = None
    _questions: set[str] = field(default_factory=set)
    _revision: int = 0
    _looked: int = -1
    _learned: set[str] = field(default_factory=set)
    """Groups that have labels to learn from: known ones, told before anything was asked."""
    _marked: set[str] | None = None
    """The items whose hashes are small enough; None where only their number is known."""
    _size: int = 0
    _order: list[str] = field(default_factory=list)

    @property
    def on(self) -> bool:
        """Whether anything is kept for testing."""
        return self.share > 0

    def refresh(self, ids: Iterable[str], count: int, *, ready: Set[str] | None = None) -> "Testing":
        """Itself, with everything that was appended since; `ids` are the `count` items of the pool.

        Where an encoder is still at others, only those that are `ready` are asked; it goes in a random order.
        """
        self.ready = ready
        if not self.on:
            return self
        for fact in self.store.facts(Question, Answer, Resolution, Group, since=self._revision):
            self._revision = max(self._revision, fact.revision)
            self._take(fact)
        learned = {self._group(name) for name in self.ledger.labels} if self.groups else set[str]()
        if self._looked != count or self._learned != learned:
            self._looked, self._learned, self._order = count, learned, []
            self._marked = set(self._small(list(ids)))
            self._size = len(self._marked)
        return self

    def counted(self, rounds: Sequence[Round]) -> bool:
        """Whether the pool need not be read, since a round has noted how much of it is kept for testing.

        Then only items that came after that round are looked at, and whether one is in the region is told by
        its hash; nothing can be asked.
        """
        noted = next((one for one in reversed(rounds) if KEPT in one.metrics.get("testing", {})), None)
        if noted is None:
            return False
        self.refresh((), 0)
        new = [item.id for item in self.store.facts(Item, since=noted.revision)]
        self._marked = None
        self._size = noted.metrics["testing"][KEPT] + sum(1 for _ in self._small(new))
        return True

    @property
    def size(self) -> int:
        """How many items are kept for testing, those that were asked among them."""
        return self._size

    def __contains__(self, identity: object) -> bool:
        """Whether an item is in the region."""
        if not self.on:
            return False
        name = str(identity)
        inside = name in self._marked if self._marked is not None else bool(self._inside([name]))
        return inside and not self.ledger.known(name)

    def order(self) -> list[str]:
        """The whole region in the order in which it is asked: uniform draws, of groups where there are any.

        Every group is met once before one is met again.
        """
        if not self._order:
            names = sorted(self._marked or ())
            key = dict(zip(names, hashes(derive(self._seed, "test"), names).tolist(), strict=True))
            drawn = sorted(names, key=lambda name: (key[name], name))
            if self.groups:
                turn: dict[str, int] = {}
                place: dict[str, tuple[int, int, str]] = {}
                group_key = self._keys("test groups", {self._group(name) for name in names})
                for name in drawn:
                    group = self._group(name)
                    place[name] = (turn.get(group, 0), group_key[group], name)
                    turn[group] = turn.get(group, 0) + 1
                drawn = sorted(names, key=lambda name: place[name])
            self._order = drawn
        ready = self._order if self.ready is None else [n for n in self._order if n in self.ready]
        return [name for name in ready if not self.ledger.known(name)]

    def next(self, count: int, *, among: Container[str] | None = None) -> list[str]:
        """The test items to be asked next, all of them `among` these where some are given."""
        fresh = (name for name in self.order() if name not in self.asked)
        return [name for name in fresh if among is None or name in among][:count]

    def left(self) -> int:
        """How many items of the region have not been asked."""
        ledger = self.ledger
        known = (ledger.labels, ledger.open, ledger.skipped, ledger.quarantined, self.asked)
        return self._size - len(self._inside({name for place in known for name in place}))

    def due(self, share: float, *, ahead: int) -> int:
        """How many test questions are due among the next `ahead` others, for this share of all."""
        wanted = share / (1 - share) * (len(self.learned) + ahead)
        return max(0, min(int(wanted + 1e-9) - len(self.asked), self.left()))

    def open(self) -> list[Question]:
        """The test questions that wait for an answer."""
        return [asked for name, asked in self.asked.items() if self._waits(name)]

    def tested(self) -> list[Tested]:
        """The test items that were answered or skipped, in the order in which they were drawn."""
        return self.tested_at(None)

    def tested_at(self, at: int | None) -> list[Tested]:
        """The same as it was at a revision."""
        done = [name for name in self.asked if name in self and not self._waits(name, at)]
        return [Tested(name, self._standing(name, at).label) for name in done]

    def history(self, name: str, at: int | None = None) -> list[Fact]:
        """What is known of a test item, as if it had been asked to learn from it."""
        blind: list[Fact] = [
            replace(one, verdict="cannot_tell", label=None) if one.assisted else one
            for one in _until(self.answers.get(name, []), at)
        ]
        word = _until(self.words.get(name, []), at)[-1:]
        return [replace(self.asked[name], kind="learn"), *blind, *word]

    def group_of(self, identity: str) -> str:
        """The group of an item; an item without one is its own."""
        return self._group(identity)

    def _take(self, fact: Fact) -> None:
        match fact:
            case Question(kind="test"):
                self.asked[fact.id], self.begun = fact, True
                self._questions.add(fact.question)
            case Question():
                self.begun = True
            case Answer() if fact.question in self._questions:
                self.answers.setdefault(fact.id, []).append(fact)
            case Answer() if fact.question and fact.view not in ("check", "sweep"):
                self.learned.add(fact.id)
            case Resolution() if fact.id in self.answers:
                self.words.setdefault(fact.id, []).append(fact)
            case Group():
                self.groups[fact.id] = fact.group
                self._looked = -1

    def _waits(self, name: str, at: int | None = None) -> bool:
        said = _until(self.answers.get(name, []), at)
        return name in self and (
            not said or said[-1].verdict == "retract" or self._standing(name, at).place == "open"
        )

    def _standing(self, name: str, at: int | None = None) -> Standing:
        """Where a test item stands by the rules for all others."""
        how = self.ledger.rules if at is None else self.ledger.rules_at(at)
        return standing(self.history(name, at), how)

    def _inside(self, names: Collection[str]) -> set[str]:
        """Those of some items that the region has, or had before somebody labelled them."""
        return set(self._small(list(names))) if self._marked is None else self._marked & set(names)

    def _small(self, ids: list[str]) -> Iterator[str]:
        """The items whose hash is small enough; of a group all or none, and none where one was labelled."""
        named = [self._group(name) for name in ids]
        key = self._keys("region", set(named))
        for name, group in zip(ids, named, strict=True):
            if key[group] < self.share * _WHOLE and group not in self._learned:
                yield name

    def _keys(self, purpose: str, names: set[str]) -> Mapping[str, int]:
        listed = sorted(names)
        return dict(zip(listed, hashes(derive(self._seed, purpose), listed).tolist(), strict=True))

    def _group(self, name: str) -> str:
        return self.groups.get(name, name)

    @property
    def _seed(self) -> int:
        """That of the run's first plan: another seed later must not move the region."""
        planned = self.store.facts(Planned)
        return int(planned[0].plan["seed"]) if planned else 0


def _until(facts: list[_F], at: int | None) -> list[_F]:
    return facts if at is None else [fact for fact in facts if fact.revision <= at]


def refuse_untestable(store: Store, plan: Plan, items: int) -> None:
    """An error if the plan would keep other items for testing than those kept so far, or too few of them."""
    begun = bool(store.last(Question))
    if plan.kept and not begun and items * plan.kept < LEAST:
        raise InputError(
            f"region in the plan: {plan.kept:g} of {items} items are fewer than the {LEAST} that a band "
            "needs; raise region, or set testing = 0"
        )
    past = store.last(Planned)
    before = make(past.plan).kept if past is not None else 0.0
    if begun and plan.kept not in (0.0, before):
        raise InputError(
            f"testing and region in the plan: {plan.kept:g} of the pool would be kept for testing, and this "
            f"run began with {before:g}; items that were learned from cannot test: leave it, or begin anew"
        )

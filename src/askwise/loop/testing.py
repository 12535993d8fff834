"""The part of the pool that is kept for testing: which items, their order of asking, what was said."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from threading import RLock

from askwise.assess.band import LEAST
from askwise.errors import InputError
from askwise.loop.plan import Plan, make
from askwise.loop.tally import Tally, Trial, tally
from askwise.seeding import derive, hashes
from askwise.store.contract import Store
from askwise.store.facts import Answer, Fact, Group, Item, Planned, Question
from askwise.store.labels import Label
from askwise.store.ledger import Ledger
from askwise.store.standing import Rules

_WHOLE = 2**56  # hashes are whole numbers below this


@dataclass(frozen=True)
class Tested:
    """A test item that was asked: its label, or none if it was skipped, unsettled, or the guess was seen."""

    id: str
    label: Label | None


@dataclass
class Testing:
    """The region of one run, by the facts: a subset of the pool that is uniform and never trained on.

    An item is in the region if the hash of its id (with groups, of its group) is small enough, unless it
    was labelled before anything was asked. Answers to test questions leave no trace in the ledger's places,
    so what is known there is not in the region. Safe for threads.
    """

    store: Store
    ledger: Ledger
    share: float = 0.0
    trials: dict[str, Trial] = field(default_factory=dict)
    """The items that were asked to test, in the order in which they were first asked."""
    tally: Tally = field(default_factory=Tally)
    """How many items are where, by all that was read."""
    begun: bool = False
    """Whether anything was asked."""
    groups: dict[str, str] = field(default_factory=dict)
    ready: Set[str] | None = None
    size: int = 0
    """How many items are kept for testing, those that were asked among them."""
    _counted: dict[str, Tally] = field(default_factory=dict)
    _revision: int = 0
    _grouped: int = 0
    _looked: int = -1
    _learned: set[str] = field(default_factory=set)
    """Groups that have labels to learn from: known ones, told before anything was asked."""
    _marked: set[str] = field(default_factory=set)
    """The items whose hashes are small enough."""
    _order: list[str] = field(default_factory=list)
    _lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def on(self) -> bool:
        """Whether anything is kept for testing."""
        return self.share > 0

    @property
    def rules(self) -> Rules:
        """How what was said becomes a label by now."""
        return self.ledger.rules

    def refresh(self, ids: Iterable[str], count: int, *, ready: Set[str] | None = None) -> "Testing":
        """Itself, with everything that was appended since; `ids` are the `count` items of the pool.

        Where an encoder is still at others, only those that are `ready` are asked; it goes in a random order.
        """
        self.ready = ready
        if self.on:
            with self._lock:
                self._refresh(ids, count)
        return self

    def _refresh(self, ids: Iterable[str], count: int) -> None:
        for fact in self.store.facts(Group, since=self._grouped):
            self._grouped, self.groups[fact.id], self._looked = fact.revision, fact.group, -1
        now = self.ledger.refresh().revision
        touched = self.ledger.touched(self._revision)
        learned = {self._group(name) for name in self.ledger.labels} if self.groups else set[str]()
        if self._looked != count or self._learned != learned:
            self._looked, self._learned, self._order = count, learned, []
            self._marked = set(self._small(list(ids)))
            self.size, touched = len(self._marked), self.ledger.touched(0)
        self._revision = now
        self._take(touched)

    def __contains__(self, identity: object) -> bool:
        """Whether an item is in the region."""
        if not self.on:
            return False
        return identity in self._marked and not self.ledger.known(str(identity))

    def order(self) -> list[str]:
        """The whole region in the order in which it is asked: uniform draws, of groups where there are any.

        Every group is met once before one is met again.
        """
        if not self._order:
            names = sorted(self._marked or ())
            key = dict(
                zip(names, hashes(derive(first_seed(self.store), "test"), names).tolist(), strict=True)
            )
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
        fresh = (name for name in self.order() if name not in self.trials)
        return [name for name in fresh if among is None or name in among][:count]

    def left(self) -> int:
        """How many items of the region have not been asked."""
        return self.size - self.tally.used

    def due(self, share: float, *, ahead: int) -> int:
        """How many test questions are due among the next `ahead` others, for this share of all."""
        wanted = share / (1 - share) * (self.tally.learned + ahead)
        return max(0, min(int(wanted + 1e-9) - self.tally.asked, self.left()))

    @property
    def asked(self) -> Collection[str]:
        """The items that were asked to test."""
        return self.trials.keys()

    def grown(self) -> bool:
        """Whether items came to the region after the first test question was asked."""
        if not self.trials:
            return False
        about = self.ledger.about(next(iter(self.trials)))
        first = next(fact for fact in about if isinstance(fact, Question) and fact.kind == "test")
        return any(item.id in self._marked for item in self.store.facts(Item, since=first.revision))

    def open(self) -> list[Question]:
        """The test questions that wait for an answer."""
        return [
            trial.question
            for name, trial in self.trials.items()
            if trial.question is not None and self._counted[name].open
        ]

    def tested(self) -> list[Tested]:
        """The test items with all the answers they were asked for, in the order in which they were drawn."""
        how = self.ledger.rules
        return [
            Tested(name, trial.standing(how).label)
            for name, trial in self.trials.items()
            if self._counted[name].tested
        ]

    def tested_at(self, at: int) -> list[Tested]:
        """The same as it was at a revision."""
        how = self.ledger.rules_at(at)
        found = {name: self.ledger.about(name, until=at) for name in self.trials}
        return [
            Tested(name, Trial.of(history).standing(how).label)
            for name, history in found.items()
            if self._of(name, history, how).tested
        ]

    def tally_at(self, at: int) -> Tally:
        """How many items were where at a revision."""
        how, found = self.ledger.rules_at(at), self.tally
        for name in self.ledger.touched(at):
            found += self._of(name, self.ledger.about(name, until=at), how) - self._counted.get(name, Tally())
        return found

    def answers(self, name: str) -> list[Answer]:
        """What was said about an item in answer to test questions."""
        return list(self.trials.get(name, Trial()).answers)

    def group_of(self, identity: str) -> str:
        """The group of an item; an item without one is its own."""
        return self._group(identity)

    def _take(self, names: Iterable[str]) -> None:
        """Look again at items that something happened to."""
        how, new = self.ledger.rules, dict[str, Trial]()
        for name in names:
            history = self.ledger.about(name)
            self.begun = self.begun or any(isinstance(fact, Question) for fact in history)
            counts = self._of(name, history, how)
            self.tally += counts - self._counted.get(name, Tally())
            self._counted[name] = counts
            if counts.asked:
                (self.trials if name in self.trials else new)[name] = Trial.of(history)
        if new:  # a new dictionary: another thread may be reading this one
            self.trials = self.trials | dict(sorted(new.items(), key=lambda one: one[1].first))

    def _of(self, name: str, history: Sequence[Fact], how: Rules) -> Tally:
        return tally(history, how, inside=name in self._marked)

    def _small(self, ids: list[str]) -> Iterator[str]:
        """The items whose hash is small enough; of a group all or none, and none where one was labelled."""
        named = [self._group(name) for name in ids]
        small = in_region(self.store, self.share, set(named))
        return (
            n for n, group in zip(ids, named, strict=True) if group in small and group not in self._learned
        )

    def _keys(self, purpose: str, names: set[str]) -> Mapping[str, int]:
        listed = sorted(names)
        return dict(
            zip(listed, hashes(derive(first_seed(self.store), purpose), listed).tolist(), strict=True)
        )

    def _group(self, name: str) -> str:
        return self.groups.get(name, name)


def in_region(store: Store, share: float, names: Collection[str]) -> set[str]:
    """Those names, of items or of groups, whose hash is small enough to be kept for testing."""
    listed = sorted(names)
    small = hashes(derive(first_seed(store), "region"), listed) < share * _WHOLE
    return {name for name, inside in zip(listed, small.tolist(), strict=True) if inside}


def first_seed(store: Store) -> int:
    """That of the run's first plan: another seed later must not move the region."""
    planned = store.facts(Planned)
    return int(planned[0].plan["seed"]) if planned else 0


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

"""What actions act upon: the plan, the network, the items and the facts of one run."""

from collections.abc import Iterable, Iterator, Set
from copy import deepcopy
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

from askwise.acquire import ACQUISITIONS, Acquisition
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.engine import Engine, Local
from askwise.loop.decide import Counts
from askwise.loop.noted import last_tested, noted_tests
from askwise.loop.plan import Plan
from askwise.loop.quality import Tests, enough
from askwise.loop.testing import Testing
from askwise.oracle.labelling import Labelling, labelling
from askwise.oracle.masks import Masks
from askwise.pool.ahead import encoding_order
from askwise.pool.axes import Axes
from askwise.pool.pool import Pool
from askwise.store.contract import Store
from askwise.store.facts import Round, Segment
from askwise.store.labels import Label
from askwise.store.ledger import Ledger, changed_since
from askwise.tasks import Task, named
from askwise.train.progress import Follow


@dataclass(frozen=True)
class Labelled:
    """Inputs and labels that are measured, never trained on."""

    inputs: Tensor
    labels: Shaped[Tensor, "N ..."]


@dataclass
class Setting:
    """Everything about a run that outlives an action; all of it can be made again from the store."""

    plan: Plan
    network: nn.Module
    pool: Pool
    store: Store
    ledger: Ledger
    held: frozenset[str] = frozenset()
    measured: dict[str, Labelled] = field(default_factory=dict)
    acquisition: Acquisition = ACQUISITIONS["random"]
    engine: Engine = field(default_factory=Local)
    follow: Follow = False
    """True shows a progress bar; a callback receives (task, done, total)."""
    encoder: dict[str, str] = field(default_factory=dict)
    """The name of a frozen encoder, where it has one, and the digest that tells it from others."""
    partial: bool = False
    """Whether questions may come from the part of the pool that is encoded, while another process goes on."""
    encoded: dict[int, int] | None = None
    """How many items were encoded for a round, by its number; none before that was looked for."""
    axes: tuple[int, Axes] | None = None
    """The axes that were fitted last, and to how many items."""
    fitted: dict[int, Fitted] = field(default_factory=dict)
    """The models of the last rounds, by number."""
    guesses: dict[int, dict[str, int]] = field(default_factory=dict)
    """The class that the last model gives each item kept for testing, by the number of its round."""
    synced: int = 0
    """How many items the pool had when the store last took them in."""
    size: tuple[int, int] = (0, 0)
    """The pixels of a mask, where labels are masks."""
    masks: Masks = field(default_factory=Masks)
    """Where masks are kept."""
    _order: list[str] | None = field(default=None, repr=False)
    again: frozenset[str] = frozenset()
    """Items that are asked already, and may be asked anew by a newer model."""
    reached: int = 0
    """How many items, the first of that order, were seen to have features."""
    ready: Set[str] | None = None
    """The items whose features are there, while an encoder is still at the others; none means all."""
    journal: bool = True
    """Whether finished scores are kept on the disk, for a run that is killed meanwhile."""
    lock: RLock = field(default_factory=RLock, repr=False)
    """Held by a thread that changes what is kept here, never while it fits or scores."""
    acting: RLock = field(default_factory=RLock, repr=False)
    """Held by the one thread that performs actions; telling, predicting and looking do not wait for it."""
    _testing: Testing | None = field(default=None, repr=False)
    _rounds: list[Round] | None = field(default=None, repr=False)

    @property
    def task(self) -> Task:
        """What a label is, to a network."""
        return named(self.plan.task)

    @property
    def labelling(self) -> Labelling:
        """What a label is, as people say it and as it is stored."""
        return labelling(self.plan.task, self.plan.names, size=self.size, masks=self.masks)

    def rows(self, labels: Iterable[Label]) -> Tensor:
        """Labels as a network learns them."""
        kind = self.labelling
        return torch.stack([kind.row(label) for label in labels])

    def preparation(self) -> dict[str, Any]:
        """How items become what the network takes, as a saved model keeps it."""
        return {**self.pool.preparation(), **self.encoder}

    def order(self) -> list[str]:
        """The ids in the order in which they are encoded; every beginning is a random sample."""
        if self._order is None or len(self._order) != len(self.pool):
            self._order, self.reached = encoding_order(list(self.pool.ids), seed=self.plan.seed), 0
        return self._order

    def refresh(self) -> Counts:
        """How far the run is, by the facts."""
        with self.lock:
            last = self.last()
            if not self.ledger.folded:  # nobody has asked for a single item yet
                tests = tests_alone(self.store, self.plan)
                if tests is not None:
                    return with_tests(self.plan, count_items(self.store, last), tests, last)
            ledger = self.ledger.refresh()
            return with_tests(self.plan, count_items(self.store, last, ledger=ledger), self.testing(), last)

    def testing(self) -> Testing:
        """The part of the pool that is kept for testing, by the facts."""
        with self.lock:
            if self._testing is None or self._testing.share != self.plan.kept:
                self._testing = Testing(self.store, self.ledger, self.plan.kept)
            ids = (name for name in self.pool.ids if name not in self.held)
            return self._testing.refresh(ids, len(self.pool), ready=self.ready)

    @property
    def rounds(self) -> list[Round]:
        """Every round, oldest first; they are read when they are first wanted."""
        with self.lock:
            known = self._rounds or []
            if new := self.store.facts(Round, since=known[-1].revision if known else 0):
                known = [*known, *new]
            self._rounds = known
            return known

    def last(self) -> Round | None:
        """The last round, by the facts."""
        with self.lock:
            if self._rounds is None:
                return self.store.last(Round)
            return self.rounds[-1] if self.rounds else None

    @property
    def number(self) -> int:
        """The number of the last round; 0 before the first."""
        last = self.last()
        return 0 if last is None else last.number

    def remember(self, number: int, fitted: Fitted) -> None:
        """Keep a model in memory, and the one before it: somebody may be using it."""
        with self.lock:
            self.fitted = {**{n: f for n, f in self.fitted.items() if n >= number - 1}, number: fitted}

    def unlabelled(self) -> Iterator[str]:
        """The items that may be asked about to learn from them."""
        ready, again = self.pool if self.ready is None else self.ready, self.again
        kept = self.testing()
        return (
            name
            for name in self.pool.ids
            if name not in self.held
            and name in ready
            and (name in again or not self.ledger.known(name))
            and name not in kept
        )


def untrained(setting: Setting) -> Fitted:
    """The network as given, for its features before the first round."""
    own = deepcopy(setting.network).eval()
    return Fitted(own, as_posterior(setting.plan.posterior), setting.task, {}, ())


def count_items(store: Store, last: Round | None, *, ledger: Ledger | None = None) -> Counts:
    """How many items are where, by the facts alone; without a ledger only what is new is read."""
    places = store.places() if ledger is None else ledger.places()
    unseen = places.labelled
    if last is not None and not _outdated(store, last):
        unseen = changed_since(store, last.seen) if ledger is None else ledger.changed_since(last.seen)
    known = places.open, places.labelled, places.skipped, places.quarantined
    rounds = 0 if last is None else last.number
    return Counts(store.count() - sum(known), *known, unseen=unseen, rounds=rounds)


def tests_alone(store: Store, plan: Plan) -> Tests | None:
    """The test questions, where the last model that was tested and what came since tell of them all."""
    if not plan.kept:
        return Testing(store, Ledger(store))
    return noted_tests(store, last_tested(store), plan.kept)


def with_tests(plan: Plan, counts: Counts, tests: Tests, last: Round | None) -> Counts:
    """The counts with the test items in places of their own, and whether a stop rule of the plan holds."""
    if not tests.on:
        return counts
    left, tally = tests.left(), tests.tally
    return replace(
        counts,
        unlabelled=counts.unlabelled - left - tally.open - tally.answered - tally.skipped,
        open=counts.open + tally.open,
        skipped=counts.skipped + tally.skipped,
        region=left,
        tested=tally.answered,
        asked=tally.learned + counts.open + tally.asked,
        asked_to_test=tally.asked,
        enough="" if counts.unseen else enough(plan, tests, last),
    )


def _outdated(store: Store, last: Round) -> bool:
    """Whether the last model is of another network or other columns: it is as if it had seen nothing."""
    return differs(store, last, "network", "encoder", "ignored")


def differs(store: Store, last: Round, *names: str) -> bool:
    """Whether a condition is no longer that of the last model; one that was not noted is taken to be."""
    segments = store.facts(Segment)
    then = [segment for segment in segments if segment.revision <= last.revision][-1].conditions
    now = segments[-1].conditions
    return any(then.get(name, now.get(name)) != now.get(name) for name in names)

"""What actions act upon: the plan, the network, the items and the facts of one run."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field

from jaxtyping import Int64
from torch import Tensor, nn

from askwise.acquire import ACQUISITIONS, Acquisition
from askwise.bayes.fitted import Fitted, load
from askwise.bayes.posteriors import as_posterior
from askwise.engine import Engine, Local
from askwise.errors import CorruptError, InputError
from askwise.loop.decide import Counts
from askwise.loop.plan import Plan
from askwise.pool.pool import Pool
from askwise.store.contract import Store
from askwise.store.facts import Round, Segment
from askwise.store.ledger import Ledger
from askwise.tasks import named
from askwise.train.progress import Follow


@dataclass(frozen=True)
class Labelled:
    """Inputs and labels that are measured, never trained on."""

    inputs: Tensor
    labels: Int64[Tensor, " N"]


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
    """Who is told how far the work of an action is."""
    rounds: list[Round] = field(default_factory=list)
    fitted: Fitted | None = None
    synced: int = 0
    """How many items the pool had when the store last took them in."""

    def refresh(self) -> Counts:
        """How far the run is, by the facts."""
        self.ledger.refresh()
        last = self.rounds[-1].revision if self.rounds else 0
        self.rounds += self.store.facts(Round, since=last)
        return count_items(self.store, self.ledger, self.rounds)

    def unlabelled(self) -> Iterator[str]:
        """The items that may be asked about."""
        return (name for name in self.pool.ids if name not in self.held and not self.ledger.known(name))

    def model(self) -> Fitted | None:
        """The model of the last round; none before the first, or if it knows other features than these."""
        if self.fitted is None and self.rounds and not self._strange(self.rounds[-1]):
            self.fitted = self._restore(self.rounds[-1])
        return self.fitted

    def _strange(self, last: Round) -> bool:
        return getattr(self.network, "on_features", False) and _differs(self.store, last, "encoder")

    def _restore(self, last: Round) -> Fitted:
        if self.store.folder is None:
            raise InputError("a store in memory keeps no models; train again, or give the store a file")
        fitted = load(self.store.folder / last.checkpoint, network=self.network)
        if fitted.digest() != last.weights:
            raise CorruptError(
                f"checkpoint {last.checkpoint} is not the one of round {last.number}; restore it from a copy"
            )
        return fitted


def untrained(setting: Setting) -> Fitted:
    """The network as given, for its features before the first round."""
    own = deepcopy(setting.network).eval()
    return Fitted(own, as_posterior(setting.plan.posterior), named("classification"), {}, ())


def count_items(store: Store, ledger: Ledger, rounds: list[Round]) -> Counts:
    """How many items are where, by the facts alone."""
    seen = ledger.labels_at(rounds[-1].seen) if rounds and not _outdated(store, rounds[-1]) else {}
    unseen = [
        name for name in seen.keys() | ledger.labels.keys() if seen.get(name) != ledger.labels.get(name)
    ]
    known = len(ledger.open), len(ledger.labels), len(ledger.skipped), len(ledger.quarantined)
    return Counts(store.count() - sum(known), *known, unseen=len(unseen), rounds=len(rounds))


def _outdated(store: Store, last: Round) -> bool:
    """Whether the last model is of another network than the present one: it is as if it had seen nothing."""
    return _differs(store, last, "network", "encoder")


def _differs(store: Store, last: Round, *names: str) -> bool:
    """Whether a condition is no longer that of the last model; one that was not noted is taken to be."""
    segments = store.facts(Segment)
    then = [segment for segment in segments if segment.revision <= last.revision][-1].conditions
    now = segments[-1].conditions
    return any(then.get(name, now.get(name)) != now.get(name) for name in names)

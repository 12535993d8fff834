"""What to do next: a pure decision over what the store knows."""

from dataclasses import dataclass
from typing import TypeAlias

from askwise.loop.plan import Plan


@dataclass(frozen=True)
class Counts:
    """How many items are where (each is in exactly one of five places), and how many models there are."""

    unlabelled: int = 0
    open: int = 0
    labelled: int = 0
    skipped: int = 0
    quarantined: int = 0
    unseen: int = 0
    """Items whose label is not the one that the latest model was trained on."""
    rounds: int = 0
    """Models trained so far."""

    @property
    def items(self) -> int:
        """All items of the pool."""
        return self.unlabelled + self.open + self.labelled + self.skipped + self.quarantined


@dataclass(frozen=True)
class Train:
    """Train the model of the next round on all labels."""


@dataclass(frozen=True)
class Ask:
    """Choose `count` items and ask about them."""

    count: int


@dataclass(frozen=True)
class Wait:
    """`open` questions wait for answers, and nothing can be done without them."""

    open: int


@dataclass(frozen=True)
class Stop:
    """The run is over, and why."""

    reason: str


Action: TypeAlias = Train | Ask | Wait | Stop


def decide(plan: Plan, counts: Counts) -> Action:
    """The next action; calling it twice without acting changes nothing."""
    enough = plan.retrain_after is not None and counts.unseen >= plan.retrain_after
    if counts.unseen and counts.labelled and (enough or not counts.open):
        return Train()
    room = plan.budget - counts.labelled - counts.open
    if counts.labelled >= plan.budget:
        return Stop(f"the budget of {plan.budget} labels is spent")
    if counts.open and (counts.open > plan.refill_at or room <= 0 or not counts.unlabelled):
        return Wait(counts.open)
    if not counts.unlabelled:
        return Stop("every item is labelled, skipped or quarantined")
    size = plan.batch if counts.rounds else plan.initial.count or plan.batch
    return Ask(min(size, room, counts.unlabelled))

"""What to do next: a pure decision over what the store knows."""

from dataclasses import dataclass
from typing import TypeAlias

from askwise.loop.plan import Plan


@dataclass(frozen=True)
class Progress:
    """How far a run is; the items are in exactly one of five places."""

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
    """Choose so many items and ask about them."""

    count: int


@dataclass(frozen=True)
class Wait:
    """So many questions are open, and nothing can be done without answers."""

    open: int


@dataclass(frozen=True)
class Stop:
    """The run is over, and why."""

    reason: str


Action: TypeAlias = Train | Ask | Wait | Stop


def decide(plan: Plan, progress: Progress) -> Action:
    """The next action; calling it twice without acting changes nothing."""
    enough = plan.retrain_after is not None and progress.unseen >= plan.retrain_after
    if progress.unseen and progress.labelled and (enough or not progress.open):
        return Train()
    room = plan.budget - progress.labelled - progress.open
    if progress.labelled >= plan.budget:
        return Stop(f"the budget of {plan.budget} labels is spent")
    if progress.open and (progress.open > plan.refill_at or room <= 0 or not progress.unlabelled):
        return Wait(progress.open)
    if not progress.unlabelled:
        return Stop("every item is labelled, skipped or quarantined")
    size = plan.batch if progress.rounds else plan.initial.count or plan.batch
    return Ask(min(size, room, progress.unlabelled))

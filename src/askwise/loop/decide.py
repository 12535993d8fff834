"""What to do next: a pure decision over what the store knows."""

from dataclasses import dataclass
from typing import TypeAlias

from askwise.loop.plan import Plan


@dataclass(frozen=True)
class Counts:
    """How many items are where (each is in exactly one of seven places), and how many models there are."""

    unlabelled: int = 0
    open: int = 0
    labelled: int = 0
    skipped: int = 0
    quarantined: int = 0
    region: int = 0
    """Kept for testing, and not asked yet."""
    tested: int = 0
    """Test items that have an answer; open and skipped ones count among all open and skipped."""
    unseen: int = 0
    """Items whose label is not the one that the latest model was trained on."""
    rounds: int = 0
    """Models trained so far."""
    asked: int = 0
    """Questions asked so far, test questions included; counted only where there are test questions."""
    asked_to_test: int = 0
    enough: str = ""
    """Why the model is good enough by a stop rule of the plan; empty while it is not."""

    @property
    def items(self) -> int:
        """All items of the pool."""
        asked = self.open + self.labelled + self.skipped + self.tested
        return self.unlabelled + self.region + self.quarantined + asked


@dataclass(frozen=True)
class Train:
    """Train the model of the next round on all labels."""


@dataclass(frozen=True)
class Ask:
    """Choose `count` items and ask about them, and `tests` items of the region mixed in."""

    count: int
    tests: int = 0


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
    answered = counts.labelled + counts.tested
    room = plan.budget - answered - counts.open
    if spent(plan, counts):
        return Stop(f"the budget of {plan.budget} labels is spent")
    if counts.enough and not counts.open:
        return Stop(counts.enough)
    if counts.open and (counts.open > plan.refill_at or room <= 0 or not counts.unlabelled):
        return Wait(counts.open)
    if not counts.unlabelled:
        places = "skipped or quarantined" if not counts.region else "skipped, quarantined or kept for testing"
        return Stop(f"every item is labelled, {places}")
    size = plan.batch if counts.rounds else plan.initial.count or plan.batch
    tests = min(_tests(plan, counts, size), room)
    learn = size if not counts.rounds else size - tests
    return Ask(min(learn, room - tests, counts.unlabelled), tests)


def spent(plan: Plan, counts: Counts) -> bool:
    """Whether all labels of the budget are given; a run goes on with a larger one."""
    return counts.labelled + counts.tested >= plan.budget


def larger(plan: Plan, counts: Counts) -> int:
    """A budget with which a run goes on that has as many labels as this one, or more."""
    return 2 * max(plan.budget, counts.labelled + counts.tested)


def _tests(plan: Plan, counts: Counts, size: int) -> int:
    """How many questions test the model, so that their share of all stays that of the plan.

    Before there is a model they come on top: the initial items are all learned from.
    """
    if not plan.kept:
        return 0
    if not counts.rounds:
        size = round(size / (1 - plan.testing))
    due = int(plan.testing * (counts.asked + size) + 1e-9) - counts.asked_to_test
    return max(0, min(due, size, counts.region))

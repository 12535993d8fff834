"""How a run stands, read from its store alone."""

from dataclasses import dataclass
from typing import Any

from askwise.errors import InputError
from askwise.loop.calibration import Tempered, noted
from askwise.loop.decide import Ask, Counts, Stop, Train, decide
from askwise.loop.plan import Plan, make
from askwise.loop.quality import Quality, quality
from askwise.loop.setting import count_items, tests_alone, with_tests
from askwise.loop.testing import Testing
from askwise.store.contract import Store
from askwise.store.facts import Planned, Round, Segment
from askwise.store.ledger import Ledger


@dataclass(frozen=True)
class Status:
    """How far a run is, how good its last model is, and what comes next."""

    store: str
    plan: Plan
    counts: Counts
    metrics: dict[str, Any]
    segments: int
    next: str
    quality: Quality | None = None
    """How good the last model is by test answers; None where no questions test it."""
    calibration: Tempered | None = None
    """The temperature that the last model is handed over with; None where nothing has chosen one."""


def status(store: Store) -> Status:
    """How a run stands; it costs by what came since the last model that was tested.

    Before there is one, with groups, and after classes have changed, test questions make it read the history.
    """
    last, planned = store.last(Round), store.last(Planned)
    if planned is None:
        raise InputError(f"store {store.name} holds no run yet; start one first")
    plan = make(planned.plan)
    tests = tests_alone(store, plan)
    if tests is None:
        tests = Testing(store, Ledger(store), plan.kept).refresh(store.ids(), store.count())
    now = with_tests(plan, count_items(store, last), tests, last)
    return Status(
        store.name,
        plan,
        now,
        {} if last is None else last.metrics,
        len(store.facts(Segment)),
        _next(plan, now),
        quality(plan, tests, last),
        None if last is None else noted(last),
    )


def _next(plan: Plan, now: Counts) -> str:
    if plan.unnamed:
        return f"name the classes on the page (askwise label); so far {', '.join(plan.classes) or 'none'}"
    match decide(plan, now):
        case Train():
            return f"train on {now.labelled} labels"
        case Ask(count, tests):
            return f"ask {count + tests} questions"
        case Stop(reason):
            return f"stop: {reason}"
        case _:
            return f"wait for {now.open} answers"

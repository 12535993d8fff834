"""How a run stands, read from its store alone."""

from dataclasses import dataclass
from typing import Any

from askwise.errors import InputError
from askwise.loop.calibration import Tempered, noted
from askwise.loop.decide import Ask, Counts, Stop, Train, decide
from askwise.loop.plan import Plan, make
from askwise.loop.quality import Quality, quality
from askwise.loop.setting import count_items, with_tests
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
    """How a run stands; the cost grows neither with the pool nor, without test questions, with history."""
    last, planned = store.last(Round), store.last(Planned)
    if planned is None:
        raise InputError(f"store {store.name} holds no run yet; start one first")
    plan = make(planned.plan)
    testing = Testing(store, Ledger(store), plan.kept)
    rounds = store.facts(Round) if testing.on else []
    if testing.on and not testing.counted(rounds):  # before the first model
        testing.refresh(store.ids(), store.count())
    now = with_tests(plan, count_items(store, last), testing, rounds)
    return Status(
        store.name,
        plan,
        now,
        {} if last is None else last.metrics,
        len(store.facts(Segment)),
        _next(plan, now),
        quality(plan, testing, rounds),
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

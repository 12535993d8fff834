"""How a run stands, read from its store alone."""

from dataclasses import dataclass
from typing import Any

from askwise.errors import InputError
from askwise.loop.decide import Ask, Counts, Stop, Train, decide
from askwise.loop.plan import Plan, make
from askwise.loop.setting import count_items
from askwise.store.contract import Store
from askwise.store.facts import Planned, Round, Segment


@dataclass(frozen=True)
class Status:
    """How far a run is, how good its last model is, and what comes next."""

    store: str
    plan: Plan
    counts: Counts
    metrics: dict[str, Any]
    segments: int
    next: str


def status(store: Store) -> Status:
    """How a run stands; what that costs does not grow with its history."""
    last, planned = store.last(Round), store.last(Planned)
    if planned is None:
        raise InputError(f"store {store.name} holds no run yet; start one first")
    plan = make(planned.plan)
    now = count_items(store, last)
    return Status(
        store.name,
        plan,
        now,
        {} if last is None else last.metrics,
        len(store.facts(Segment)),
        _next(plan, now),
    )


def _next(plan: Plan, now: Counts) -> str:
    match decide(plan, now):
        case Train():
            return f"train on {now.labelled} labels"
        case Ask(count):
            return f"ask {count} questions"
        case Stop(reason):
            return f"stop: {reason}"
        case _:
            return f"wait for {now.open} answers"

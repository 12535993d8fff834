"""The choices that a learner takes as keywords, and the plan they make."""

from collections.abc import Mapping
from typing import Any, TypedDict

from askwise.acquire import Acquire
from askwise.bayes.posteriors import Posterior
from askwise.engine import Engine
from askwise.errors import InputError, choose
from askwise.loop.plan import Plan, make
from askwise.store.classes import names
from askwise.train import Training


class Choices(TypedDict, total=False):
    """The fields of a plan that a learner takes as they are; `loop/plan.py` says what each means."""

    posterior: Posterior | str | Mapping[str, Any]
    acquire: Acquire
    acquire_options: Mapping[str, Any]
    select: str
    select_options: Mapping[str, Any]
    initial_select: str | None
    batch: int
    budget: int
    testing: float
    region: float
    until: float | None
    stable: float | None
    gain: float | None
    start: str
    training: Training | Mapping[str, Any]
    calibrate: bool | None
    draws: int
    draw: str
    pool_subset: int | None
    shortlist: int
    targets: int
    retrain_after: int | None
    refill_at: int
    keep: int
    needed: int
    overlap: float
    policy: str
    seed: int
    device: str
    engine: str | Engine
    engine_options: Mapping[str, Any]


def chosen_plan(plan: Plan | None, labels: dict[str, Any], choices: dict[str, Any]) -> Plan:
    """The plan without its labelled data, from choices (None stands for a default) or as given."""
    if plan is not None:
        both = choices | labels
        extra = [name for name, value in both.items() if name != "acquire" and value is not None]
        if extra:
            raise InputError(f"the plan decides {extra[0]!r}; change it there")
        return plan
    for name in choices:
        choose("option of Learner", name, Choices.__annotations__)
    made = make({name: value for name, value in (choices | labels).items() if value is not None})
    if made.unnamed:  # only a plan may leave them to people on a page
        names(made.classes)
    return made

"""From what a learner is given to a run that can go on: data set aside, features, facts up to date."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from askwise.acquire import Acquisition
from askwise.bayes.learning import training_threads
from askwise.engine import Engine
from askwise.errors import InputError
from askwise.loop.added import added
from askwise.loop.answers import tell
from askwise.loop.conditions import columns_condition, conditions
from askwise.loop.edits import measured_now
from askwise.loop.featured import encoder_condition, feature_inputs, feature_pool, head_of
from askwise.loop.opening import check_outputs, open_run
from askwise.loop.parts import balanced, balanced_before, initial_part, measured_part
from askwise.loop.plan import Plan, make
from askwise.loop.plan_fields import MEASURED, Part
from askwise.loop.setting import Labelled, Setting
from askwise.oracle.labelling import labelling
from askwise.oracle.masks import Masks
from askwise.pool import Pool
from askwise.store import open_store, place
from askwise.store.contract import Store
from askwise.store.facts import RULES
from askwise.store.ledger import Ledger
from askwise.store.standing import rules
from askwise.train import as_training
from askwise.train.progress import Follow


@dataclass(frozen=True)
class Given:
    """Labelled data as a learner is given it; `Learner` says in which forms."""

    initial: Any = None
    validation: Any = None
    test: Any = None


def assemble(
    network: nn.Module,
    items: Pool,
    plan: Plan,
    given: Given,
    *,
    store: str | Path | Store | None,
    acquisition: Acquisition,
    engine: Engine,
    exact: bool,
    partial: bool,
    progress: Follow,
) -> Setting:
    """The run with its store open, and everything in it that is new."""
    size = check_outputs(network, items.like(), plan)
    first, labels = initial_part(given.initial, items)
    parts, measured, held = _measured(plan, items, given, size)
    plan = make(plan.model_dump() | {"initial": first} | parts)
    if plan.initial.per_class is not None and not _begun(store):
        # now, so that a run that is refused leaves no store behind
        plan = balanced(plan, given.initial.get("labels"), items, held)
    kept = open_store(store)
    try:
        for more in added(kept):
            items.add(more)
        if plan.initial.per_class is not None and not plan.initial.ids:
            plan = balanced_before(plan, kept) or balanced(plan, given.initial.get("labels"), items, held)
        now = {**conditions(plan, network), **encoder_condition(network), **columns_condition(items)}
        if (head := head_of(network, items.like(), plan)) is not None:
            network, items = head, feature_pool(head, items, kept)
            for name, data in measured.items():
                inputs = feature_inputs(head, data.inputs, getattr(given, name), items, kept, progress)
                measured[name] = Labelled(inputs, data.labels)
        how = rules(kept.facts(*RULES))
        # of what is trained: with an encoder that is the head on its features
        now["threads"] = training_threads(network, items.like()[None], as_training(plan.training))
        named = {} if plan.encoder is None else {"encoder": plan.encoder}
        setting = Setting(
            plan,
            network,
            items,
            kept,
            Ledger(kept),
            held,
            {name: measured_now(data, how) for name, data in measured.items()},
            acquisition,
            engine,
            progress,
            {} if head is None else {**named, "encoder_digest": now["encoder"]},
            partial,
            size=size,
            masks=Masks(None if kept.folder is None else kept.folder.with_suffix(".masks")),
        )
        open_run(setting, now, exact=exact)
        tell(setting, labels, annotator="initial", key="initial")
    except BaseException:
        kept.close()
        raise
    return setting


def _measured(
    plan: Plan, items: Pool, given: Given, size: tuple[int, int]
) -> tuple[dict[str, Part], dict[str, Labelled], frozenset[str]]:
    """Validation and test data: as parts of the plan, as tensors, and the items that are held out."""
    parts, measured, held = dict[str, Part](), dict[str, Labelled](), frozenset[str]()
    kind = labelling(plan.task, plan.names, size=size)
    for name in MEASURED:
        parts[name], data, ids = measured_part(name, getattr(given, name), items, kind)
        held |= ids
        if data is not None:
            measured[name] = data
    if held and len(held) == len(items):
        raise InputError(
            "every item of the pool is held out for validation or test, and none is left to ask about; "
            "measure on other data, or on a part of the pool"
        )
    early = as_training(plan.training).patience is not None
    tempered = plan.calibrate and not plan.testing
    if (tempered or early) and "validation" not in measured:
        option, other = ("calibrate", " or test questions") if tempered else ("patience", "")
        raise InputError(f"{option} needs validation data{other}; pass validation=..., or leave {option} out")
    return parts, measured, held


def _begun(store: str | Path | Store | None) -> bool:
    """Whether the store may know already how the run began."""
    if not isinstance(store, str | Path):
        return store is not None
    where = place(store)
    return where.exists() if isinstance(where, Path) else True

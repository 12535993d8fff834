"""What a plan must keep to: its fields among each other, and what this machine or an action needs of it."""

from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING

from askwise.acquire import ACQUISITIONS, Acquisition, as_acquisition
from askwise.bayes.fit import as_device
from askwise.engine import open_engine
from askwise.errors import InputError, check_options, serves
from askwise.pool import arrays, embeddings, images, table, text
from askwise.references import imported, is_reference
from askwise.selection import SELECTIONS
from askwise.store.classes import names

if TYPE_CHECKING:
    from askwise.loop.plan import Plan


DATA_OPTIONS = frozenset(
    name
    for make in (images, text, table, embeddings, arrays)
    for name, one in signature(make).parameters.items()
    if one.kind is Parameter.KEYWORD_ONLY
) - {"ids", "encode"}
"""What a plan may say under `data_options` of data of one's own."""


def _labels(plan: "Plan") -> None:
    """One word for what a label is made of."""
    wanted = plan.made_of
    for word, given in (("classes", plan.classes), ("tags", plan.tags), ("numbers", plan.numbers)):
        if given and word != wanted:
            raise InputError(f"{plan.kind} takes {wanted}, not {word}; rename them in the plan")
    if plan.kind == "segmentation" and plan.classes:
        names(plan.classes)
    later = plan.kind == "classification" and "classes" in plan.model_fields_set
    if not plan.names and not later:
        raise InputError(f"name the {wanted}: {wanted} = [...] in the plan, or {wanted}=[...]")


def _served(plan: "Plan") -> None:
    """Only what serves the task."""
    if not is_reference(plan.acquire):
        serves("acquisition", plan.acquire, plan.kind, ACQUISITIONS[plan.acquire], ACQUISITIONS)
    for name in filter(None, (plan.select, plan.initial_select)):
        serves("selection", name, plan.kind, SELECTIONS[name], SELECTIONS)
    if plan.thaw and plan.encoder is None:
        raise InputError("thaw lets an encoder learn, and the plan names none; add encoder = ...")
    if plan.kind == "regression" and plan.calibrate:
        raise InputError("calibrate tempers probabilities, and regression has none; leave it out")
    if plan.initial.per_class is not None:
        one_class(plan, "initial per class")


def _options(plan: "Plan") -> None:
    """Only options that the score and the selection have."""
    if not is_reference(plan.acquire):
        function, given = ACQUISITIONS[plan.acquire].function, ["seed", "targets"]
        check_options(f"acquisition {plan.acquire!r}", function, plan.acquire_options, given=given)
    function, given = SELECTIONS[plan.select].function, ["count", "seed", "ids", "labelled"]
    check_options(f"selection {plan.select!r}", function, plan.select_options, given=given)


def _affordable(plan: "Plan") -> None:
    """First labels per class must fit into the budget."""
    per_class, classes = plan.initial.per_class, len(plan.classes)
    if per_class is None or plan.initial.ids:
        return
    if plan.initial.count:
        raise InputError("initial in the plan: give a number or per_class, not both")
    if per_class * classes > plan.budget:
        raise InputError(
            f"initial in the plan: {per_class} of each of {classes} classes are {per_class * classes} "
            f"labels, more than the budget of {plan.budget}; lower per_class, or raise the budget"
        )


def _tested(plan: "Plan") -> None:
    """Rules that stop a run need test questions."""
    for rule, given in (("until", plan.until), ("stable", plan.stable), ("gain", plan.gain)):
        if given is None:
            continue
        if not plan.testing:
            raise InputError(f"{rule} in the plan needs test questions; add testing = 0.2")
        one_class(plan, f"{rule} in the plan")


CHECKS: tuple[Callable[["Plan"], None], ...] = (_labels, _served, _options, _affordable, _tested)
"""What every plan is held to when it is made, in this order."""


def ready(plan: "Plan") -> None:
    """Refuse a device or an engine that this machine does not have."""
    as_device(plan.device)
    open_engine(plan.engine, **plan.engine_options)


def one_class(plan: "Plan", what: str) -> None:
    """Refuse what only labels of one class per item can have."""
    if plan.kind != "classification":
        raise InputError(f"{what} needs one class per item, and the task is {plan.kind}")


def refuse_unnamed(plan: "Plan", *, where: str) -> None:
    """Refuse to run a plan whose classes people have not named yet."""
    if plan.unnamed:
        found = ", ".join(plan.classes) or "none"
        raise InputError(
            f"{where} needs at least two classes, and has {found}; name them on the page (askwise label), "
            'or in plan.toml: classes = ["cat", "dog"]'
        )


def acquisition(plan: "Plan", *, folder: Path | None = None) -> Acquisition:
    """The acquisition that a plan names; one's own is imported, from the plan's folder first."""
    if not is_reference(plan.acquire):
        return ACQUISITIONS[plan.acquire]
    own = imported(plan.acquire, what="acquisition", folder=folder)
    if not callable(own):
        raise InputError(f"acquisition {plan.acquire!r} is a {type(own).__name__}, not a function")
    return as_acquisition(own)[1]

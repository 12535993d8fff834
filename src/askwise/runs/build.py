"""The learner that a plan describes: its network, its labelled data, and who answers."""

from collections.abc import Container
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from askwise import nets
from askwise.bayes.fitted import as_network
from askwise.errors import InputError
from askwise.loop.learner import Learner
from askwise.loop.opening import check_outputs
from askwise.loop.parts import balanced, measured_part
from askwise.loop.plan import Plan, make
from askwise.loop.plan_fields import Part
from askwise.loop.plan_rules import acquisition, ready
from askwise.loop.score import subset
from askwise.nets.encoded import encoded
from askwise.nets.noise import homoscedastic
from askwise.oracle import File, Oracle, Simulated, open_oracle
from askwise.oracle.labelling import labelling
from askwise.pool.encoding import feature_width
from askwise.references import imported, is_reference
from askwise.runs.material import Material, columns_of, material
from askwise.seeding import derive
from askwise.store.facts import Group, Told
from askwise.train.progress import Follow

SIMULATED = "simulated"


def whole_network(plan: Plan, known: Material, *, folder: Path | None = None) -> nn.Module:
    """The plan's network; with an encoder, that network as a head on its features."""
    like = known.pool.like()
    if known.encoder is None:
        return network(plan, like, folder=folder)
    encoder = known.encoder.module
    wide = feature_width(encoder, like)
    head = plan if plan.network is not None else plan.model_copy(update={"network": "linear"})
    return encoded(encoder, network(head, torch.zeros(wide), folder=folder), thaw=plan.thaw)


def network(plan: Plan, like: Tensor, *, folder: Path | None = None) -> nn.Module:
    """The plan's network, as large as its items and classes need it; `folder` has modules of one's own."""
    if plan.network is None:
        raise InputError(f"the plan names no network; add network = ... one of: {', '.join(nets.NETWORKS)}")
    if is_reference(plan.network):
        return _own_network(plan.network, _sizes(plan, like), folder)
    builder = nets.NETWORKS[plan.network]
    wanted = signature(builder).parameters
    if "size" in wanted and (like.ndim != 3 or like.shape[1] != like.shape[2]):
        raise InputError(f"{plan.network} takes square pictures, not items of shape {tuple(like.shape)}")
    sizes = _sizes(plan, like)
    learned = plan.kind == "regression" and plan.task.get("tau") is None
    if learned:
        sizes["classes"] //= 2  # its means; the log-variances are added
    built = nets.build(
        plan.network, **{name: size for name, size in sizes.items() if name in wanted} | plan.network_options
    )
    return homoscedastic(built, outputs=len(plan.names)) if learned else built


def _sizes(plan: Plan, like: Tensor) -> dict[str, int]:
    """What a builder may ask for: classes (outputs), features, and of pictures channels and size."""
    learned = plan.kind == "regression" and plan.task.get("tau") is None
    sizes = {"classes": plan.outputs * (1 + learned), "features": like.numel()}
    return sizes | ({"channels": like.shape[0], "size": like.shape[1]} if like.ndim == 3 else {})


def _own_network(reference: str, sizes: dict[str, int], folder: Path | None) -> nn.Module:
    """A network of one's own: a module, or a function that makes one from the sizes it names."""
    own = imported(reference, what="network", folder=folder)
    if isinstance(own, nn.Module):
        return own
    if not callable(own):
        raise InputError(f"network {reference!r} is a {type(own).__name__}, not a function or a torch module")
    wanted = signature(own).parameters
    missing = [
        n
        for n, p in wanted.items()
        if n not in sizes
        and p.default is Parameter.empty
        and p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    if missing:
        raise InputError(
            f"network {reference!r} wants {missing[0]!r}; a plan gives it any of: {', '.join(sizes)}"
        )
    made = own(**{name: size for name, size in sizes.items() if name in wanted})
    if not isinstance(made, nn.Module):
        raise InputError(f"network {reference!r} must make a torch module, and made a {type(made).__name__}")
    return made


def learner(
    plan: Plan,
    known: Material,
    *,
    store: str | Path | None = None,
    answers: Oracle | None = None,
    exact: bool = False,
    partial: bool = False,
    progress: Follow = False,
    folder: Path | None = None,
) -> Learner:
    """The learner that the plan describes.

    `answers` is who will answer, if that is known: a balanced initial set is chosen by those labels.
    """
    own: dict[str, Any] = {}
    if is_reference(plan.acquire):
        own["acquire"] = acquisition(plan, folder=folder)
    ours = Learner(
        whole_network(plan, known, folder=folder),
        pool=known.pool,
        plan=make(plan.model_dump(exclude={"initial", "validation", "test"})),
        store=store,
        initial=_initial(plan, known, answers),
        validation=_validation(plan, known),
        test=_test(plan, known),
        exact=exact,
        partial=partial,
        progress=progress,
        **own,
    )
    if plan.group is not None:
        group = {name: cells[0] for name, cells in columns_of(plan, known.pool, [plan.group]).items()}
        have = {fact.id for fact in ours.store.facts(Group)}
        ours.store.append([Group(id=name, group=one) for name, one in group.items() if name not in have])
    return ours


def oracle(source: str, plan: Plan, known: Material) -> Oracle:
    """Who answers: a file of labels, or the labels of the data set itself."""
    if source != SIMULATED:
        return open_oracle(source, classes=labelling(plan.task, plan.names), find=known.pool.find)
    if not known.labels:
        raise InputError(f"{plan.data} has no labels to simulate answers from; use --oracle labels.csv")
    return Simulated(known.labels, classes=labelling(plan.task, plan.names))


def check(plan: Plan, *, data_dir: str | Path | None = None, folder: Path | None = None) -> bool:
    """Whether a run needs no answers to begin; an error, as the run's own, if it cannot run.

    The labels for a balanced initial set of one's own data come with the oracle, later.
    """
    ready(plan)
    acquisition(plan, folder=folder)
    known = material(plan, data_dir=data_dir, folder=folder)
    size = check_outputs(as_network(whole_network(plan, known, folder=folder)), known.pool.like(), plan)
    held, kind = _validation(plan, known) or {}, labelling(plan.task, plan.names, size=size)
    for name, given in (("validation", held or None), ("test", _test(plan, known))):
        measured_part(name, given, known.pool, kind)
    if plan.initial.per_class is None:
        return True
    if not known.labels:
        return False
    balanced(plan, known.labels, known.pool, held)
    return True


def _initial(plan: Plan, known: Material, answers: Oracle | None) -> Any:
    """As a learner takes it."""
    if plan.initial.per_class is None:
        return plan.initial.ids or plan.initial.count
    return {"per_class": plan.initial.per_class, "labels": answers or known.labels or None}


def _held_out(name: str, part: Part, plan: Plan, known: Material, *, taken: Container[str] = ()) -> Any:
    """Labels of items that are held out of the pool: from a file, by ids, or a number drawn by their ids."""
    if part.file is not None:
        return File(part.file, classes=labelling(plan.task, plan.names), find=known.pool.find).labels
    if not part.count and not part.ids:
        return None
    if not known.labels:
        raise InputError(
            f"{name} in the plan: {plan.data} has no labels to hold out; "
            f'name a file of them: {name} = "labels.csv", or labels = ...'
        )
    if part.ids:
        ids = [known.pool.find(key) for key in part.ids]
        bare = next((name for name in ids if name not in known.labels), None)
        if bare is not None:
            raise InputError(f"{name} in the plan: nothing is known of the label of item {bare!r}")
        return {name: known.labels[name] for name in ids}
    free = (name for name in known.pool.ids if name in known.labels and name not in taken)
    ids = subset(free, part.count, seed=derive(plan.seed, name))
    return {name: known.labels[name] for name in ids}


def _validation(plan: Plan, known: Material) -> dict[str, Told] | None:
    found: dict[str, Told] | None = _held_out("validation", plan.validation, plan, known)
    return found


def _test(plan: Plan, known: Material) -> Any:
    """Data to report on: the data set's own, or labels of items that are held out of the pool."""
    if known.test is None or plan.test.file or plan.test.ids:
        return _held_out("test", plan.test, plan, known, taken=_validation(plan, known) or {})
    if not plan.test.count:
        return known.test
    return known.test[0][: plan.test.count], known.test[1][: plan.test.count]

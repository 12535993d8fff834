"""A run as a plan in a file describes it: data, network and oracle by their names."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from askwise import nets
from askwise.data import NAMES, Dataset, load
from askwise.data.catalogue import STORED
from askwise.errors import InputError, choose
from askwise.loop.learner import Learner
from askwise.loop.parts import balanced
from askwise.loop.plan import Plan, read
from askwise.loop.score import subset
from askwise.oracle import Oracle, Simulated, open_oracle
from askwise.pool import Pool, arrays, images
from askwise.seeding import derive
from askwise.train.progress import Follow

SIMULATED = "simulated"


@dataclass(frozen=True)
class Material:
    """What a plan's `data` stands for: items, and the labels that are known of them."""

    pool: Pool
    labels: Mapping[str, str]
    test: tuple[Tensor, list[str]] | None


def read_plan(path: str | Path, *, overrides: Iterable[str] = ()) -> Plan:
    """The plan in a file; where it names a data set, the classes may be left to that."""
    return read(path, overrides=[*_own_classes(Path(path)), *overrides])


def material(plan: Plan, *, data_dir: str | Path | None = None) -> Material:
    """The items of a plan: of a data set by name, of a folder of pictures or of a .npy file."""
    if plan.data is None:
        raise InputError('the plan names no data; add e.g. data = "digits", or a folder of pictures')
    if plan.data in NAMES:
        return _known(load(plan.data, data_dir=data_dir))
    path = Path(plan.data)
    if path.is_dir():
        return Material(images(path), {}, None)
    if path.suffix == ".npy":
        return Material(arrays(path), {}, None)
    if path.exists():
        raise InputError(f"{path} is no folder of pictures and no .npy file; use aw.Learner for other data")
    choose("data set (and there is no such folder)", plan.data, NAMES)
    raise AssertionError  # choose has refused it


def network(plan: Plan, like: Tensor) -> nn.Module:
    """The plan's network, as large as its items and classes need it."""
    if plan.network is None:
        raise InputError(f"the plan names no network; add network = ... one of: {', '.join(nets.NETWORKS)}")
    wanted = signature(nets.NETWORKS[choose("network", plan.network, nets.NETWORKS)]).parameters
    if "size" in wanted and (like.ndim != 3 or like.shape[1] != like.shape[2]):
        raise InputError(f"{plan.network} takes square pictures, not items of shape {tuple(like.shape)}")
    sizes = {"classes": len(plan.classes), "features": like.numel()}
    if "size" in wanted:
        sizes |= {"channels": like.shape[0], "size": like.shape[1]}
    return nets.build(plan.network, **{name: size for name, size in sizes.items() if name in wanted})


def learner(
    plan: Plan,
    known: Material,
    *,
    store: str | Path | None = None,
    answers: Oracle | None = None,
    exact: bool = False,
    follow: Follow = False,
) -> Learner:
    """The learner that the plan describes; `follow` hears how far its work is.

    `answers` is who will answer, if that is known: a balanced initial set is chosen by those labels.
    """
    choices = plan.model_dump(exclude={"classes", "initial", "validation", "test", "network", "store"})
    return Learner(
        network(plan, known.pool.like()),
        pool=known.pool,
        classes=plan.classes,
        store=store,
        initial=_initial(plan, known, answers),
        validation=_validation(plan, known),
        test=_test(plan, known),
        exact=exact,
        progress=follow,
        **choices,
    )


def oracle(source: str, plan: Plan, known: Material) -> Oracle:
    """Who answers: a file of labels, or the labels of the data set itself."""
    if source != SIMULATED:
        return open_oracle(source, classes=plan.classes)
    if not known.labels:
        raise InputError(f"{plan.data} has no labels to simulate answers from; use --oracle labels.csv")
    return Simulated(known.labels, classes=plan.classes)


def _own_classes(path: Path) -> list[str]:
    """The classes of the data set as a setting, if the plan names one and no classes."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []  # said by the reader of plans
    data = written.get("data")
    if "classes" in written or data not in NAMES:
        return []
    classes = STORED[data].classes if data in STORED else tuple("0123456789")
    if not classes:
        raise InputError(
            f"{data} has no classes, and a plan in a file needs some: use aw.fit with task='regression'"
        )
    return [f"classes={json.dumps(list(classes))}"]


def _known(data: Dataset) -> Material:
    if data.task != "classification" or isinstance(data.train_x, list) or isinstance(data.test_x, list):
        what = f"texts for {data.task}" if isinstance(data.train_x, list) else f"data for {data.task}"
        raise InputError(
            f"{data.name} holds {what}; a plan in a file takes pictures with one class each: use aw.Learner"
        )

    def named(labels: Tensor) -> list[str]:
        return [data.classes[label] for label in labels.tolist()]

    labels = dict(zip(data.train_ids, named(data.train_y), strict=True))
    return Material(arrays(data.train_x, ids=data.train_ids), labels, (data.test_x, named(data.test_y)))


def check_initial(plan: Plan, *, data_dir: str | Path | None = None) -> bool:
    """Whether the labels for a balanced initial set are there; an error if a class has too few.

    Those of other data than a data set by name come with the oracle, later.
    """
    if plan.initial.per_class is None:
        return True
    if plan.data not in NAMES:
        return False
    known = material(plan, data_dir=data_dir)
    balanced(plan, known.labels, known.pool, _validation(plan, known) or {})
    return True


def _initial(plan: Plan, known: Material, answers: Oracle | None) -> Any:
    """As a learner takes it."""
    if plan.initial.per_class is None:
        return plan.initial.ids or plan.initial.count
    return {"per_class": plan.initial.per_class, "labels": answers or known.labels or None}


def _validation(plan: Plan, known: Material) -> dict[str, str] | None:
    """Labels of items that are held out of the pool, drawn by their ids."""
    if not plan.validation.count and not plan.validation.ids:
        return None
    if not known.labels:
        raise InputError(f"validation in the plan: {plan.data} has no labels to hold out")
    ids = list(plan.validation.ids) or subset(
        known.pool.ids, plan.validation.count, seed=derive(plan.seed, "validation")
    )
    return {name: known.labels[name] for name in ids if name in known.labels}


def _test(plan: Plan, known: Material) -> tuple[Tensor, list[str]] | None:
    if plan.test.count and known.test is None:
        raise InputError(f"test in the plan: {plan.data} has no labelled test data")
    if known.test is None or not plan.test.count:
        return known.test
    return known.test[0][: plan.test.count], known.test[1][: plan.test.count]

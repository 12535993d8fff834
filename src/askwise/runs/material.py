"""What a plan's `data` stands for: the items, and the labels that are known of them."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from askwise.data import NAMES, Dataset, load
from askwise.data.catalogue import STORED
from askwise.errors import InputError, choose
from askwise.loop.plan import Plan, read
from askwise.pool import Pool, arrays, images


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

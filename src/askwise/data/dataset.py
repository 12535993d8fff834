"""A data set as every loader gives it: items, labels, stable ids and the names of the classes."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from jaxtyping import Float32, Int64, UInt8
from torch import Tensor

from askwise.errors import CorruptError

Items: TypeAlias = Float32[Tensor, "_ ..."] | list[str]
"""Images [N, C, H, W] in 0..1, rows of numbers [N, D], or texts."""

Labels: TypeAlias = Int64[Tensor, "_ ..."] | Float32[Tensor, "_ ..."]
"""What `Dataset.task` says."""


class Part(NamedTuple):
    """The items of one part, their labels and their ids."""

    x: Items
    y: Labels
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Arrays:
    """Images and labels as they were stored, before they become tensors."""

    train_x: UInt8[np.ndarray, "N C H W"]
    train_y: UInt8[np.ndarray, " N"]
    test_x: UInt8[np.ndarray, "M C H W"]
    test_y: UInt8[np.ndarray, " M"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items to learn from and to test on, with an id each.

    `task` says what a label is, by the name it has among the tasks. classification: a position in
    `classes` [N]. multilabel: 0 or 1 for each of `classes` [N, L]. regression: numbers [N, D],
    and no classes. segmentation: a position in `classes`, or `ignore`, for each pixel [N, H, W].
    """

    name: str
    classes: tuple[str, ...]
    train_x: Items
    train_y: Labels
    train_ids: tuple[str, ...]
    test_x: Items
    test_y: Labels
    test_ids: tuple[str, ...]
    task: str = "classification"
    ignore: int | None = None
    validation: Part | None = None
    """The part to choose by, in sets that are published with one."""


@dataclass(frozen=True)
class Published:
    """A data set in files as they were published: its name, its classes, and the SHA-256 sum of each file."""

    name: str
    classes: tuple[str, ...]
    digests: dict[str, str]

    def joined(
        self,
        task: str,
        train: Part,
        test: Part,
        *,
        validation: Part | None = None,
        classes: tuple[str, ...] | None = None,
        ignore: int | None = None,
    ) -> Dataset:
        """The parts as one data set; its classes are those of the record unless others are given."""
        names = self.classes if classes is None else classes
        return Dataset(self.name, names, *train, *test, task=task, ignore=ignore, validation=validation)


def dataset(name: str, classes: tuple[str, ...], arrays: Arrays, *, brightest: int = 255) -> Dataset:
    """The arrays as a data set: `brightest` becomes 1, and ids count along each part."""
    for part, labels in (("train", arrays.train_y), ("test", arrays.test_y)):
        if labels.size and labels.max() >= len(classes):
            raise CorruptError(f"{name} has {len(classes)} classes and a {part} label {labels.max()}")
    return Dataset(
        name=name,
        classes=classes,
        train_x=_scaled(arrays.train_x, brightest),
        train_y=torch.from_numpy(arrays.train_y.astype(np.int64)),
        train_ids=numbered(f"{name}-train", len(arrays.train_y)),
        test_x=_scaled(arrays.test_x, brightest),
        test_y=torch.from_numpy(arrays.test_y.astype(np.int64)),
        test_ids=numbered(f"{name}-test", len(arrays.test_y)),
    )


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Ids that count from 0."""
    return tuple(f"{prefix}-{position:05d}" for position in range(count))


def _scaled(pixels: UInt8[np.ndarray, "N C H W"], brightest: int) -> Float32[Tensor, "N C H W"]:
    return torch.from_numpy(pixels.astype(np.float32)).div_(brightest)

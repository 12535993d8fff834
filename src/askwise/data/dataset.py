"""A data set as every loader gives it: tensors, stable ids and the names of the classes."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Int64, UInt8
from torch import Tensor

from askwise.errors import CorruptError


@dataclass(frozen=True, eq=False)
class Arrays:
    """Images and labels as they were stored, before they become tensors."""

    train_x: UInt8[np.ndarray, "N C H W"]
    train_y: UInt8[np.ndarray, " N"]
    test_x: UInt8[np.ndarray, "M C H W"]
    test_y: UInt8[np.ndarray, " M"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images in 0..1, labels as positions in `classes`, and an id for every item."""

    name: str
    classes: tuple[str, ...]
    train_x: Float32[Tensor, "N C H W"]
    train_y: Int64[Tensor, " N"]
    train_ids: tuple[str, ...]
    test_x: Float32[Tensor, "M C H W"]
    test_y: Int64[Tensor, " M"]
    test_ids: tuple[str, ...]


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
        train_ids=_ids(name, "train", len(arrays.train_y)),
        test_x=_scaled(arrays.test_x, brightest),
        test_y=torch.from_numpy(arrays.test_y.astype(np.int64)),
        test_ids=_ids(name, "test", len(arrays.test_y)),
    )


def _scaled(pixels: UInt8[np.ndarray, "N C H W"], brightest: int) -> Float32[Tensor, "N C H W"]:
    return torch.from_numpy(pixels.astype(np.float32)).div_(brightest)


def _ids(name: str, part: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}-{part}-{position:05d}" for position in range(count))

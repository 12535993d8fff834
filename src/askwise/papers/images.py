"""Images of a data set as tensors, read once for all runs of a process."""

from functools import cache
from pathlib import Path

from torch import Tensor

from askwise.data import load
from askwise.errors import InputError


@cache
def images(name: str, data_dir: Path | None, train: int, test: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The first images to learn from and to test on, with their labels."""
    data = load(name, data_dir=data_dir if name == "mnist" else None)
    if not isinstance(data.train_x, Tensor) or not isinstance(data.test_x, Tensor):
        raise InputError(f"{name} holds no images")
    return data.train_x[:train], data.train_y[:train], data.test_x[:test], data.test_y[:test]

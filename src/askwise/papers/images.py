"""Data sets of images as tensors."""

from functools import cache
from pathlib import Path

from jaxtyping import Float
from torch import Tensor

from askwise.data import Dataset, load
from askwise.errors import InputError


def image_set(name: str, data_dir: Path | None) -> tuple[Dataset, Tensor, Tensor]:
    """A data set of images, and its images to learn from and to test on."""
    data = load(name, data_dir=data_dir)
    if not isinstance(data.train_x, Tensor) or not isinstance(data.test_x, Tensor):
        raise InputError(f"{name} holds no images")
    return data, data.train_x, data.test_x


@cache
def images(name: str, data_dir: Path | None, train: int, test: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The first images to learn from and to test on, with their labels; read once for all runs."""
    data, train_x, test_x = image_set(name, data_dir if name == "mnist" else None)
    return train_x[:train], data.train_y[:train], test_x[:test], data.test_y[:test]


def normalised(
    train: Float[Tensor, "N C H W"], test: Float[Tensor, "M C H W"]
) -> tuple[Float[Tensor, "N C H W"], Float[Tensor, "M C H W"]]:
    """Both with mean 0 and deviation 1 in every channel of the first."""
    mean, deviation = train.mean((0, 2, 3), keepdim=True), train.std((0, 2, 3), keepdim=True)
    return (train - mean) / deviation, (test - mean) / deviation

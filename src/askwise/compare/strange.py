"""Items of a kind that was never learned: a model that knows what it does not know doubts them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from askwise.data import NAMES, load
from askwise.errors import InputError, choose
from askwise.seeding import generator

SHUFFLED = "shuffled"
_MOST = 2000  # strange items: enough to a third digit of an area
_USUAL: Mapping[str, Sequence[str]] = {"mnist": ("fashion_mnist",), "fashion_mnist": ("mnist",)}
"""Better than shuffled pixels, if they are here."""


def strange_name(data: str, asked: str | None, *, data_dir: str | Path | None = None) -> str:
    """What stands for strange items: as asked, or else the usual data set if it is here, or `shuffled`."""
    if asked is not None:
        if choose("kind of strange items", asked, (SHUFFLED, *NAMES)) == data:
            raise InputError(f"{data} is not strange to itself; leave --ood out, or choose another set")
        return asked
    for name in _USUAL.get(data, ()):
        try:
            load(name, data_dir=data_dir)
        except InputError:
            continue  # it is not here
        return name
    return SHUFFLED


def strange_items(
    name: str, like: Float[Tensor, "N C H W"], *, data_dir: str | Path | None = None
) -> Float[Tensor, "M C H W"]:
    """Strange items in the form of `like`, the test images.

    `shuffled` are the test images themselves with their pixels in one fixed random order: as bright
    as before, and without shape. A data set gives its test images, scaled to the size of `like`.
    Of either the first 2,000 are enough.
    """
    if name == SHUFFLED:
        return shuffled(like[:_MOST])
    images = load(name, data_dir=data_dir).test_x[:_MOST]
    if not isinstance(images, Tensor) or images.ndim != 4 or images.shape[1] != like.shape[1]:
        found = list(images.shape[1:]) if isinstance(images, Tensor) else "texts"
        raise InputError(f"items of {name} ({found}) cannot stand beside images {list(like.shape[1:])}")
    if images.shape[2:] != like.shape[2:]:
        images = F.interpolate(images, size=like.shape[2:], mode="area")
    return images


def shuffled(images: Float[Tensor, "N C H W"]) -> Float[Tensor, "N C H W"]:
    """The images with their pixels in another order, the same for all."""
    pixels = images.shape[2] * images.shape[3]
    order = torch.randperm(pixels, generator=generator(0, "strange", "pixels"))
    return images.flatten(2)[:, :, order].view_as(images)

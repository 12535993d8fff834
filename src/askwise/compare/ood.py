"""Real items of another kind than was learned: a good model is uncertain about them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from jaxtyping import Float, Float32
from torch import Tensor
from torch.nn import functional as F

from askwise.data import NAMES, load
from askwise.data.catalogue import task_of
from askwise.errors import InputError, choose
from askwise.seeding import generator

PHOTOS, SHUFFLED = "photos", "shuffled"
_MOST = 2000  # items: enough to a third digit of an area
_USUAL: Mapping[str, Sequence[str]] = {
    "digits": ("fashion_mnist",),
    "mnist": ("fashion_mnist",),
    "fashion_mnist": ("mnist",),
    "goemotions": ("trec",),
    "xed": ("trec",),
}
"""Nearer to the items, and so harder to tell from them, than what is always here; taken if they are here."""
_GREY = (0.299, 0.587, 0.114)  # how bright red, green and blue are to the eye (ITU-R BT.601)


def ood_name(data: str, asked: str | None, *, data_dir: str | Path | None = None) -> str:
    """What stands for other data: as asked, or else the usual data set if it is here.

    If not, `photos` for pictures, and `shuffled` for rows of numbers and for features of texts.
    """
    if asked is not None:
        if choose("kind of ood items", asked, (PHOTOS, SHUFFLED, *NAMES)) == data:
            raise InputError(f"{data} is not ood to itself; leave --ood out, or choose another set")
        return asked
    for name in _USUAL.get(data, ()):
        try:
            load(name, data_dir=data_dir)
        except InputError:
            continue  # it is not here
        return name
    return SHUFFLED if task_of(data)["name"] in ("multilabel", "regression") else PHOTOS


def ood_items(
    name: str, like: Float[Tensor, "N ..."], *, data_dir: str | Path | None = None
) -> Float[Tensor, "M ..."]:
    """Items of other data in the form of `like`, the test items; at most 2,000 of them.

    `photos` are patches of two photographs that come with scikit-learn. `shuffled` are the test items
    with every column mixed by itself: each number is real, and no two belong together. A data set gives
    its first test images, scaled to the size of `like`.
    """
    if name == SHUFFLED:
        return shuffled(like)
    if like.ndim != 4:
        raise InputError(f"{name} cannot stand beside rows of {like.shape[1]} numbers; choose {SHUFFLED!r}")
    if name == PHOTOS:
        return photos(*like.shape[1:])
    images = load(name, data_dir=data_dir).test_x[:_MOST]
    if not isinstance(images, Tensor) or images.ndim != 4 or images.shape[1] != like.shape[1]:
        found = list(images.shape[1:]) if isinstance(images, Tensor) else "texts"
        raise InputError(f"items of {name} ({found}) cannot stand beside images {list(like.shape[1:])}")
    if images.shape[2:] != like.shape[2:]:
        images = F.interpolate(images, size=like.shape[2:], mode="area")
    return images


def photos(channels: int, height: int, width: int) -> Float32[Tensor, "M C H W"]:
    """Patches of a temple and a flower, side by side, in colours or grey: evenly chosen, at most 2,000."""
    from sklearn.datasets import load_sample_images

    pictures = [torch.from_numpy(image.copy()).movedim(-1, 0) for image in load_sample_images().images]
    if channels == 1:
        pictures = [torch.tensordot(torch.tensor(_GREY), one.float(), dims=1)[None] for one in pictures]
    elif channels != len(_GREY):
        raise InputError(
            f"photos have 1 or 3 channels, and the images {channels}; choose a data set by --ood"
        )
    cut = [
        one.unfold(1, height, height).unfold(2, width, width).permute(1, 2, 0, 3, 4).flatten(0, 1)
        for one in pictures
    ]
    patches = torch.cat(cut).float().div(255)
    step = max(1, -(-len(patches) // _MOST))
    return patches[::step].contiguous()


def shuffled(like: Float[Tensor, "N ..."]) -> Float[Tensor, "M ..."]:
    """Rows whose columns are those of the first 2,000 of `like`, each in an order of its own."""
    rows = like[:_MOST].flatten(1)
    order = torch.rand(rows.shape, generator=generator(0, "compare", SHUFFLED)).argsort(dim=0)
    return rows.gather(0, order).view_as(like[:_MOST])

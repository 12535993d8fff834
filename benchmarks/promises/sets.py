"""Four real sets as frozen features: principal axes of pixels, of random convolutions, of words."""

from dataclasses import dataclass
from functools import cache

import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import Tensor
from torch.nn import functional as F

import askwise as aw
from askwise.seeding import generator

NAMES = ("digits", "mnist", "fashion_mnist", "trec")
AXES, POWER = 64, 0.5  # principal axes kept, each times its eigenvalue to this power
ITEMS = 10_000  # of the two large sets, drawn once
PATCHES, SIDE = 128, 6  # random convolutions: patches of training images
SETTINGS = {"axes": AXES, "power": POWER, "items": ITEMS, "patches": PATCHES, "side": SIDE}


@dataclass(frozen=True)
class Labelled:
    """Features of unit length, and what they are."""

    features: Tensor  # [N, D]
    labels: Tensor  # [N]
    classes: int


@cache
def load(name: str) -> Labelled:
    """A set by name, training and test part together."""
    data = aw.data.load(name)
    y = torch.cat([data.train_y, data.test_y])
    if name == "trec":
        x = _words([*data.train_x, *data.test_x])
    else:
        x = torch.cat([data.train_x, data.test_x]).float()
        if len(x) > ITEMS:
            chosen = torch.randperm(len(x), generator=generator(0, "honest", name))[:ITEMS]
            x, y = x[chosen], y[chosen]
        x = x.flatten(1) if name == "digits" else _convolved(x, name)
    return Labelled(_axes(x), y, len(data.classes))


def _axes(x: Tensor) -> Tensor:
    """The leading principal axes, their differences in length reinforced, rows of unit length."""
    x = (x - x.mean(dim=0)).double()
    values, vectors = torch.linalg.eigh(x.T @ x / len(x))
    keep = values.argsort(descending=True)[:AXES]
    scaled = x @ vectors[:, keep] * values[keep].clamp(min=0) ** POWER
    return F.normalize(scaled, dim=1).float()


def _convolved(x: Tensor, name: str) -> Tensor:
    """Images under random patches of themselves, rectified and pooled."""
    rng = generator(0, "honest", name, "patches")
    x = x.view(len(x), 1, 28, 28) / x.max()
    item = torch.randint(len(x), (PATCHES,), generator=rng)
    row, column = torch.randint(4, 28 - 4 - SIDE, (2, PATCHES), generator=rng)
    patches = torch.stack(
        [x[i, :, r : r + SIDE, c : c + SIDE] for i, r, c in zip(item, row, column, strict=True)]
    )
    patches = patches - patches.mean(dim=(1, 2, 3), keepdim=True)
    patches = F.normalize(patches.flatten(1), dim=1).view_as(patches)
    parts = []
    for some in x.split(500):
        seen = F.relu(F.conv2d(some, patches, stride=2))
        parts.append(F.adaptive_avg_pool2d(seen, 4).flatten(1))
    return torch.cat(parts)


def _words(texts: list[str]) -> Tensor:
    """Latent semantic axes of words, pairs of words and parts of words."""
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit_transform(texts)
    axes = TruncatedSVD(2 * AXES, random_state=0).fit_transform(words)
    return torch.from_numpy(axes)

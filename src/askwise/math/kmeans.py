"""k-means, with its seeding as a part of its own (Arthur and Vassilvitskii 2007)."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.math.distance import chunks, squared
from askwise.types import Features

_ROUNDS = 100


def draw_one(mass: Float[Tensor, " N"], rng: torch.Generator) -> int:
    """A position drawn in proportion to its mass; the first of them if there is no mass at all."""
    heap = mass.double().cumsum(dim=0)
    aim = (1 - torch.rand((), dtype=torch.float64, generator=rng).to(heap.device)) * heap[-1]
    return int(torch.searchsorted(heap, aim))  # the first to reach an aim above 0 has mass


def seeds(points: Features, *, count: int, rng: torch.Generator) -> Float[Tensor, "k D"]:
    """At most `count` distinct points, each drawn in proportion to its squared distance to the others."""
    chosen = [draw_one(torch.ones(len(points)), rng)]
    left = _to(points, points[chosen])
    while len(chosen) < count and left.any():
        chosen.append(draw_one(left, rng))
        left = torch.minimum(left, _to(points, points[chosen[-1:]]))
    return points[chosen]


def kmeans(points: Features, *, count: int, rng: torch.Generator) -> Int64[Tensor, " N"]:
    """The cluster of every point, of at most `count`: fewer when there are fewer distinct points.

    Deterministic for one order of the points, which sums in several threads would not be.
    """
    points = points - points.mean(dim=0)
    centres = seeds(points, count=count, rng=rng)
    labels = _assign(points, centres)
    for _ in range(_ROUNDS):
        sums = torch.zeros_like(centres).index_add_(0, labels, points)
        sizes = labels.bincount(minlength=len(centres))[:, None]
        centres = torch.where(sizes > 0, sums / sizes.clamp(min=1), centres)
        last, labels = labels, _assign(points, centres)
        if torch.equal(last, labels):
            break
    return labels


def _to(points: Features, one: Float[Tensor, "1 D"]) -> Float[Tensor, " N"]:
    return torch.cat([squared(chunk, one).squeeze(1) for chunk in chunks(points)])


def _assign(points: Features, centres: Float[Tensor, "k D"]) -> Int64[Tensor, " N"]:
    return torch.cat([squared(chunk, centres).argmin(dim=1) for chunk in chunks(points, width=len(centres))])

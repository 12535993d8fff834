"""Squared Euclidean distances between features, in chunks, so that memory stays bounded."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.types import Features

_CELLS = 1 << 22  # numbers held at once: 16 MB in float32
_ROUNDING = 16  # a difference of products this many roundings from 0 is taken for 0


def squared(points: Float[Tensor, "n D"], others: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    """Squared distance of every point to every other, by one matrix product.

    The product form loses digits when points are close: what is within rounding of 0 becomes 0,
    so duplicates have no distance. Features far from the origin should be centred first.
    """
    size = points.square().sum(dim=1)[:, None] + others.square().sum(dim=1)
    found = torch.addmm(size, points, others.T, alpha=-2)
    return found.masked_fill_(found <= size * (_ROUNDING * torch.finfo(size.dtype).eps), 0)


def squared_to(points: Features, one: Float[Tensor, " D"]) -> Float[Tensor, " N"]:
    """Squared distance of every point to a single one, by plain differences: equal rows get equal bits."""
    return torch.cat([(chunk - one).square().contiguous().sum(dim=1) for chunk in chunks(points)])


def nearest(
    points: Features, others: Float[Tensor, "M D"], *, order: Int64[Tensor, " n"]
) -> Float[Tensor, " n"]:
    """Squared distance to the nearest of the others, for the points at the positions in `order`."""
    centre = others.mean(dim=0)
    out = points.new_full((len(order),), torch.inf)
    for some in chunks(others):
        rows = max(1, _CELLS // max(len(some), points.shape[1]))
        found = [
            squared(points[part] - centre, some - centre).amin(dim=1) for part in torch.split(order, rows)
        ]
        out = torch.minimum(out, torch.cat(found))
    return out


def mean_to_neighbours(points: Features, *, count: int) -> Float[Tensor, " N"]:
    """Mean distance of every point to its `count` nearest others among the points."""
    count = min(count, len(points) - 1)
    if count < 1:
        return points.new_zeros(len(points))
    points = points - points.mean(dim=0)
    rows = max(1, _CELLS // max(len(points), points.shape[1]))
    out = []
    for start in range(0, len(points), rows):
        found = squared(points[start : start + rows], points)
        own = torch.arange(len(found))
        found[own, own + start] = torch.inf  # nobody is their own neighbour
        out.append(found.topk(count, dim=1, largest=False).values.sqrt().mean(dim=1))
    return torch.cat(out)


def chunks(points: Features, *, width: int = 1) -> Iterator[Float[Tensor, "n D"]]:
    """The points in pieces of bounded size, also where each point gives `width` numbers."""
    return iter(torch.split(points, max(1, _CELLS // max(width, points.shape[1]))))

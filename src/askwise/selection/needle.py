"""Look for classes that nobody declared: each pick is the item that is least like all that is known."""

import torch
from jaxtyping import Float64
from torch import Tensor
from torch.nn import functional as F

from askwise.math.checks import check_features
from askwise.math.distance import squared_to
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks

_LENGTH = 0.5  # of the mean squared distance between two items: the square of the kernel's length
_NOISE = 0.01  # of a label, where an item has variance 1


def needle(features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None) -> Picks:
    """The items with the largest variance left, one after another, given `labelled` and the picks before.

    The variance is that of a Gaussian process with a Gaussian kernel on rows of unit length. k_center looks
    at the nearest known item alone; here all that are near count, so that a direction nobody has asked
    about is met sooner. It is for finding classes, not for learning the known ones.
    """
    order = shuffled(seed=seed, ids=ids)  # sums in this order do not depend on the pool's
    points = features[order].double().cpu()
    known = points[:0]
    if labelled is not None and len(labelled):
        known = check_features(labelled, name="labelled", width=features.shape[1]).to(points)
    centre = points.mean(dim=0)
    rows = F.normalize(torch.cat([points, known]) - centre, dim=1)
    apart = 2 * rows[: len(points)].var(dim=0, correction=0).sum().clamp(min=1e-12)
    left = torch.ones(len(rows), dtype=torch.float64)
    seen = torch.empty(len(rows), 0, dtype=torch.float64)
    for place in range(len(points), len(rows)):
        left, seen = _given(rows, place, left, seen, apart)
    picks: list[int] = []
    while len(picks) < count:
        gain = left[: len(points)].clone()
        gain[picks] = -torch.inf
        picks.append(int(gain.argmax()))  # a tie goes to the first by hash
        left, seen = _given(rows, picks[-1], left, seen, apart)
    return order[torch.tensor(picks)]


def _given(
    rows: Float64[Tensor, "N D"],
    place: int,
    left: Float64[Tensor, " N"],
    seen: Float64[Tensor, "N k"],
    apart: Float64[Tensor, ""],
) -> tuple[Float64[Tensor, " N"], Float64[Tensor, "N k1"]]:
    """The variance left, and one more column of the Cholesky factor, once one more item is known."""
    kernel = torch.exp(-squared_to(rows, rows[place]) / (2 * _LENGTH * apart))
    column = (kernel - seen @ seen[place]) / (left[place] + _NOISE).sqrt()
    return (left - column.square()).clamp(min=0), torch.cat([seen, column[:, None]], dim=1)

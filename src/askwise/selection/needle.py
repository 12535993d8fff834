"""Look for what nobody declared: items unlike all that is labelled, in two ways by turns."""

import torch
from jaxtyping import Float64
from torch import Tensor
from torch.nn import functional as F

from askwise.math.checks import check_features
from askwise.math.distance import squared_to
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks

_NOISE = 0.1  # of a label, where an item's features have length 1


def needle(features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None) -> Picks:
    """Picks that are by turns the farthest from everything known, and in the direction least known.

    The first is k_center's distance to the nearest known item; it meets strange single items. The second
    is the variance that a linear model has left after the known ones (D-optimal design); it meets classes
    that use features of their own. Rows are centred and brought to unit length. It is for finding classes,
    not for learning the known ones.
    """
    order = shuffled(seed=seed, ids=ids)  # sums in this order do not depend on the pool's
    points, known = features[order].double().cpu(), features[:0].double().cpu()
    if labelled is not None and len(labelled):
        known = check_features(labelled, name="labelled", width=features.shape[1]).to(points)
    centre = points.mean(dim=0)
    rows = F.normalize(points - centre, dim=1)
    near = torch.full((len(rows),), torch.inf, dtype=torch.float64)
    spread = torch.eye(rows.shape[1], dtype=torch.float64) / _NOISE
    left = rows.square().sum(dim=1) / _NOISE
    for one in F.normalize(known - centre, dim=1):
        near, spread, left = _given(rows, one, near, spread, left)
    picks: list[int] = []
    while len(picks) < count:
        turn = (near if len(picks) % 2 == 0 else left).clone()
        turn[picks] = -torch.inf
        picks.append(int(turn.argmax()))  # a tie goes to the first by hash
        near, spread, left = _given(rows, rows[picks[-1]], near, spread, left)
    return order[torch.tensor(picks)]


def _given(
    rows: Float64[Tensor, "N D"],
    one: Float64[Tensor, " D"],
    near: Float64[Tensor, " N"],
    spread: Float64[Tensor, "D D"],
    left: Float64[Tensor, " N"],
) -> tuple[Float64[Tensor, " N"], Float64[Tensor, "D D"], Float64[Tensor, " N"]]:
    """Distance to the nearest known item, covariance and variance left, once one more item is known."""
    moved = spread @ one
    size = 1 + one @ moved
    fallen = (rows @ moved).square() / size
    return (
        torch.minimum(near, squared_to(rows, one)),
        spread - torch.outer(moved, moved) / size,
        (left - fallen).clamp(min=0),
    )

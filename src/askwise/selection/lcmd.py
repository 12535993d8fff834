"""Cover the pool where it is spread out most: the farthest item of the largest cluster."""

import torch
from torch import Tensor

from askwise.math.checks import check_features
from askwise.math.distance import squared_to
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks


def lcmd(features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None) -> Picks:
    """Largest cluster, maximum distance (Holzmüller et al. 2023), on the features of the last layer.

    Every item belongs to the nearest of the picks and of the `labelled` features [M, D]; the size of a
    cluster is the sum of its squared distances. Each pick is the farthest item of the largest cluster.
    Without anything labelled the first pick is the item with the largest features.
    """
    order = shuffled(seed=seed, ids=ids)
    points = features[order]
    near = torch.full((len(points),), torch.inf, dtype=points.dtype, device=points.device)
    owner = torch.zeros(len(points), dtype=torch.int64, device=points.device)
    centres = 0
    if labelled is not None and len(labelled):
        for one in check_features(labelled, name="labelled", width=features.shape[1]).to(features):
            centres = _joined(points, one, near, owner, centres)
    picks: list[int] = []
    while len(picks) < count:
        pick = _farthest(points, near, owner, centres, picks)
        picks.append(pick)
        centres = _joined(points, points[pick], near, owner, centres)
    return order[torch.tensor(picks)]


def _joined(points: Features, centre: Tensor, near: Tensor, owner: Tensor, number: int) -> int:
    """How many centres there are with this one, to which the points that are nearer now belong."""
    apart = squared_to(points, centre)
    closer = apart < near
    near[closer] = apart[closer]
    owner[closer] = number
    return number + 1


def _farthest(points: Features, near: Tensor, owner: Tensor, centres: int, picks: list[int]) -> int:
    """The place of the next pick; of equals the first by hash."""
    free = torch.ones(len(points), dtype=torch.bool, device=points.device)
    free[picks] = False
    if not centres:
        return int(points.square().sum(dim=1).argmax())
    # in float64 and in the order of the hashes, so that sizes do not depend on positions
    sizes = torch.zeros(centres, dtype=torch.float64, device=points.device)
    sizes.index_add_(0, owner[free], near[free].double())
    sizes[torch.bincount(owner[free], minlength=centres) == 0] = -1
    inside = free & (owner == int(sizes.argmax()))
    return int(near.masked_fill(~inside, -1).argmax())

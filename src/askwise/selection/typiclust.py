"""Ask first for what is typical: one item from the middle of each large cluster.

For the cold start, when there are no labels and no network to trust.
"""

import torch
from jaxtyping import Int64
from torch import Tensor

from askwise.errors import positive
from askwise.math.checks import check_features
from askwise.math.distance import mean_to_neighbours
from askwise.math.kmeans import kmeans
from askwise.seeding import generator
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks

_LARGEST = 20_000  # members compared with each other: the cost grows with the square


def typiclust(
    features: Features,
    *,
    count: int,
    seed: int,
    ids: Ids,
    labelled: Tensor | None = None,
    neighbours: int = 20,
    clusters: int = 500,
) -> Picks:
    """The densest item of each of the largest clusters without a label (Hacohen et al. 2022).

    There are as many clusters as `labelled` features [M, D] and picks together, at most `clusters`;
    density is the inverse mean distance to the nearest `neighbours` of the same cluster (of its
    first 20,000 by hash, where it is larger).
    """
    positive("neighbours", neighbours)
    positive("clusters", clusters)
    order = shuffled(seed=seed, ids=ids)
    points, known = features[order], 0
    if labelled is not None and len(labelled):
        labelled = check_features(labelled, name="labelled", width=features.shape[1]).to(features)
        points, known = torch.cat([points, labelled]), len(labelled)
    groups = kmeans(points, count=min(known + count, clusters), rng=generator(seed, "typiclust"))
    return order[_round_robin(points, groups, len(order), count, neighbours)]


def _densest_first(members: Int64[Tensor, " n"], points: Features, pool: int, neighbours: int) -> list[int]:
    """The members of a cluster that may be picked, densest first."""
    compared, rest = members[:_LARGEST], members[_LARGEST:]
    spread = mean_to_neighbours(points[compared], count=neighbours)
    ranked = torch.cat([compared[spread.sort(stable=True).indices], rest])
    return [member for member in ranked.tolist() if member < pool]


def _round_robin(
    points: Features, groups: Int64[Tensor, " N"], pool: int, count: int, neighbours: int
) -> Picks:
    """The densest item left in each cluster in turn: fewest labels first, then largest.

    The first `pool` points may be picked; the rest are labelled.
    """
    total = int(groups.max()) + 1
    taken = groups[pool:].bincount(minlength=total).tolist()
    sizes = groups.bincount(minlength=total).tolist()
    left = groups[:pool].bincount(minlength=total).tolist()
    waiting: dict[int, list[int]] = {}
    picks: list[int] = []
    while len(picks) < count:
        group = min((g for g in range(total) if left[g]), key=lambda g: (taken[g], -sizes[g], g))
        if group not in waiting:
            waiting[group] = _densest_first((groups == group).nonzero().squeeze(1), points, pool, neighbours)
        picks.append(waiting[group].pop(0))
        taken[group], left[group] = taken[group] + 1, left[group] - 1
    return torch.tensor(picks)

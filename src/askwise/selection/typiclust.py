"""Ask first for what is typical: one item from the middle of each large cluster.

For the cold start, when there are no labels and no network to trust.
"""

import torch
from jaxtyping import Int64
from torch import Tensor

from askwise.math.checks import check_features
from askwise.math.distance import mean_to_neighbours
from askwise.math.kmeans import kmeans
from askwise.seeding import generator
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks

# The numbers of the authors' code.
_CLUSTERS = 500  # at most
_TOO_SMALL = 5  # members: a cluster of so few is outliers
_NEIGHBOURS = 20  # at most

_LARGEST = 20_000  # members compared with each other: the cost grows with the square


def typiclust(
    features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None
) -> Picks:
    """The densest item of each of the largest clusters without a label (Hacohen et al. 2022).

    There are as many clusters as `labelled` features [M, D] and picks together, at most 500; those of
    five or fewer members are left out while there are others. Density is the inverse mean distance to
    the nearest 20 of the n members without a label, or n // 2 if that is less (of the first 20,000 by
    hash, where there are more).
    """
    order = shuffled(seed=seed, ids=ids)
    points, known = features[order], 0
    if labelled is not None and len(labelled):
        labelled = check_features(labelled, name="labelled", width=features.shape[1]).to(features)
        points, known = torch.cat([points, labelled]), len(labelled)
    groups = kmeans(points, count=min(known + count, _CLUSTERS), rng=generator(seed, "typiclust"))
    return order[_round_robin(points, groups, len(order), count)]


def _round_robin(points: Features, groups: Int64[Tensor, " N"], pool: int, count: int) -> Picks:
    """The densest item left in each cluster in turn: fewest labels first, then largest.

    The first `pool` points may be picked; the rest are labelled.
    """
    total = int(groups.max()) + 1
    taken = groups[pool:].bincount(minlength=total).tolist()
    sizes = groups.bincount(minlength=total).tolist()
    left = [(groups[:pool] == group).nonzero().squeeze(1) for group in range(total)]
    picks: list[int] = []
    while len(picks) < count:
        group = min(
            (g for g in range(total) if len(left[g])),
            key=lambda g: (sizes[g] <= _TOO_SMALL, taken[g], -sizes[g], g),
        )
        place = _densest(points[left[group][:_LARGEST]])
        picks.append(int(left[group][place]))
        left[group] = torch.cat([left[group][:place], left[group][place + 1 :]])
        taken[group] += 1
    return torch.tensor(picks)


def _densest(points: Features) -> int:
    """The position of the point with the nearest neighbours; of equals the first."""
    neighbours = max(1, min(_NEIGHBOURS, len(points) // 2))
    return int(mean_to_neighbours(points, count=neighbours).sort(stable=True).indices[0])

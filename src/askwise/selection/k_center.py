"""Cover the pool: each pick is the item farthest from everything picked or labelled before."""

import torch
from torch import Tensor

from askwise.math.checks import check_features
from askwise.math.distance import nearest, squared_to
from askwise.selection.order import Ids, best, shuffled
from askwise.types import Features, Picks


def k_center(features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None) -> Picks:
    """The greedy answer to the k-center problem, at most twice the best radius (Sener and Savarese 2018).

    Without `labelled` features [M, D] to keep away from, the first pick is the first by hash.
    """
    left = features.new_full((len(features),), torch.inf)
    if labelled is not None and len(labelled):
        labelled = check_features(labelled, name="labelled", width=features.shape[1]).to(features)
        order = shuffled(seed=seed, ids=ids)  # equal rows differ by rounding: let ids decide, not positions
        left[order] = nearest(features, labelled, order=order)
    picks: list[int] = []
    for _ in range(count):
        picks.append(int(best(left, count=1, seed=seed, ids=ids)))
        left = torch.minimum(left, squared_to(features, features[picks[-1]]))
        left[picks] = -1  # never twice, even among duplicates
    return torch.tensor(picks)

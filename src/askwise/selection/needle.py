"""Look for what nobody declared: items unlike all that is labelled, in directions the pool hardly uses."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from askwise.math.checks import check_features
from askwise.selection.k_center import k_center
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, Picks

_AXES = 64  # principal axes that are kept: beyond them whitening makes noise as loud as the rest
_FLAT = 1e-8  # of the largest variance: an axis with less is rounding


def needle(features: Features, *, count: int, seed: int, ids: Ids, labelled: Tensor | None = None) -> Picks:
    """k_center on whitened axes: each pick is the least like all picks and `labelled` features before it.

    In the features themselves the large classes fill the long axes, and a class of a few items hardly
    shows. Whitened, every direction counts alike. It is for finding classes, not for learning the known ones.
    """
    order = shuffled(seed=seed, ids=ids)  # sums in this order do not depend on the pool's
    points, known = features[order], features[:0]
    if labelled is not None and len(labelled):
        known = check_features(labelled, name="labelled", width=features.shape[1]).to(features)
    white = _whitened(torch.cat([points, known]))
    names = [ids[i] for i in order.tolist()]
    picks = k_center(white[: len(points)], count=count, seed=seed, ids=names, labelled=white[len(points) :])
    return order[picks]


def _whitened(points: Features) -> Float[Tensor, "N axes"]:
    """The points along their principal axes, each scaled to unit variance, rows of unit length."""
    centred = points.double() - points.double().mean(dim=0)
    values, vectors = torch.linalg.eigh(centred.T @ centred / len(centred))
    values, vectors = values.flip(0)[:_AXES], vectors.flip(1)[:, :_AXES]
    kept = values > _FLAT * values[0]
    if not bool(kept.any()):  # all points are the same
        return points
    return F.normalize(centred @ (vectors[:, kept] / values[kept].sqrt()), dim=1).to(points)

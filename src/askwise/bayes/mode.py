"""The weights of a last layer that are most probable under its labels and a Gaussian prior."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.last_layer import LastLayer
from askwise.errors import TrainingError

_STEPS = 100
_MEMORY = 5  # pairs of vectors that L-BFGS keeps: each is as large as the layer
_NOTHING = 1e-13  # of the largest eigenvalue: no feature points this way


def mode(
    model: LastLayer, start: Float[Tensor, "C D"], precision: float, *, within: float = 1e-4
) -> Float[Tensor, "C D"]:
    """The minimum of -log-likelihood + precision / 2 * |weights|^2, by L-BFGS in float64.

    `within` so many standard deviations of the posterior, as far as the scaling below can tell.

    It runs in coordinates in which the curvature is nearly the identity (in Gaussian regression
    with one number it is), so that ill-conditioned features do not slow it down. Where no feature
    points the prior alone speaks, and the mode is zero: those coordinates are left out.
    """
    vectors, scale = _scaling(model, start, precision)
    point = _minimised(model, (start @ vectors) * scale, vectors, scale, precision=precision, within=within)
    found = (point / scale) @ vectors.T
    if not bool(torch.isfinite(found).all()):
        raise TrainingError("the last layer has no finite mode; give a larger prior_precision")
    return found


def _minimised(
    model: LastLayer, start: Tensor, vectors: Tensor, scale: Tensor, *, precision: float, within: float
) -> Tensor:
    """The minimum in scaled coordinates [C, R]; the memory of L-BFGS is free again when it is returned."""
    point = start.requires_grad_()
    bent = [(model.features[items].double() @ vectors) / scale for items in model.chunks(len(start))]
    optimizer = torch.optim.LBFGS(
        [point],
        max_iter=_STEPS,
        history_size=_MEMORY,
        tolerance_grad=within,
        tolerance_change=1e-12,
        line_search_fn="strong_wolfe",
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        total = precision / 2 * (point / scale).square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        for features, items in zip(bent, model.chunks(len(start)), strict=True):
            part = -model.log_likelihood(model.outputs(features, point, items), items)
            part.backward()  # type: ignore[no-untyped-call]
            total = total.detach() + part.detach()
        return total

    with torch.enable_grad():
        optimizer.step(loss)  # type: ignore[no-untyped-call]
    return point.detach()


def _scaling(model: LastLayer, weights: Tensor, precision: float) -> tuple[Tensor, Tensor]:
    """The eigenvectors of the features' second moments, and the root of the curvature along each."""
    bend = 0.0  # of one output, summed over the items
    for items in model.chunks(len(weights)):
        features = model.features[items].double()
        d, u = model.fisher(model.outputs(features, weights, items), items, len(weights))
        bend += (d - u.square()).sum().item() / len(weights)
    values, vectors = torch.linalg.eigh(model.second_moments())
    seen = values > _NOTHING * values[-1]
    return vectors[:, seen], (values[seen] * bend + precision).sqrt()

"""The weights of a last layer that are most probable under its labels and a Gaussian prior."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.last_layer import LastLayer
from askwise.errors import TrainingError
from askwise.math.lbfgs import minimum

_STEPS = 100
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
    bent = [(model.features[items].double() @ vectors) / scale for items in model.chunks(len(start))]
    shape = (len(start), len(scale))

    def loss(flat: Tensor) -> tuple[float, Tensor]:
        point = flat.view(shape).requires_grad_()
        prior = precision / 2 * (point / scale).square().sum()
        (slope,) = torch.autograd.grad(prior, point)
        value = prior.item()
        for features, items in zip(bent, model.chunks(len(start)), strict=True):
            part = -model.log_likelihood(model.outputs(features, point, items), items)
            slope += torch.autograd.grad(part, point)[0]
            value += part.item()
        return value, slope.flatten()

    with torch.enable_grad():
        flat = minimum(loss, ((start @ vectors) * scale).flatten(), within=within, steps=_STEPS).detach()
    found = (flat.view(shape) / scale) @ vectors.T
    if not bool(torch.isfinite(found).all()):
        raise TrainingError("the last layer has no finite mode; give a larger prior_precision")
    return found


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

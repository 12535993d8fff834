"""The weights of a last layer that are most probable under its labels and a Gaussian prior."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.posteriors.curvature import bends
from askwise.bayes.posteriors.last_layer import LastLayer
from askwise.errors import TrainingError
from askwise.math.lbfgs import minimum

_STEPS = 100


def mode(
    model: LastLayer, start: Float[Tensor, "C D"], precision: float, *, within: float = 1e-4
) -> Float[Tensor, "C D"]:
    """The minimum of -log-likelihood + precision / 2 * |weights|^2, by L-BFGS in float64.

    The search ends within `within` standard deviations of the posterior, as far as the scaling tells.

    Every feature is scaled by the curvature along it. In principal axes (`spanned`) the whole
    curvature is then nearly the identity (in Gaussian regression with one number it is), so that
    ill-conditioned features do not slow the search down.
    """
    scale = _scale(model, start, precision)
    scaled = [model.features[items].double() / scale for items in model.chunks(len(start))]

    def loss(flat: Tensor) -> tuple[float, Tensor]:
        point = flat.view(start.shape).requires_grad_()
        plain = point.detach() / scale
        value, slope = precision / 2 * plain.square().sum().item(), precision * plain / scale
        for features, items in zip(scaled, model.chunks(len(start)), strict=True):
            part = -model.log_likelihood(model.outputs(features, point, items), items)
            slope += torch.autograd.grad(part, point)[0]
            value += part.item()
        return value, slope.flatten()

    with torch.enable_grad():
        flat = minimum(loss, (start * scale).flatten(), within=within, steps=_STEPS).detach()
    found = flat.view(start.shape) / scale
    if not bool(torch.isfinite(found).all()):
        raise TrainingError("the last layer has no finite mode; give a larger prior_precision")
    return found


def _scale(model: LastLayer, weights: Tensor, precision: float) -> Tensor:
    """The root of the curvature along each feature, that of the mean output."""
    return (model.mean_squares() * bends(model, weights).mean() + precision).sqrt()

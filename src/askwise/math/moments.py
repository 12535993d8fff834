"""Gaussian predictions of numbers, given as moments [N, T, D, 2]: mean and log-variance of every draw."""

import math

from jaxtyping import Float
from torch import Tensor

from askwise.math.uncertainty import Uncertainty
from askwise.types import Moments, SiteScores


def variances(moments: Moments) -> Uncertainty:
    """Variances [N, D]: of the means (epistemic), and the mean of the variances (aleatoric)."""
    means = moments[..., 0]
    epistemic = (means - means.mean(dim=1, keepdim=True)).square().mean(dim=1)
    aleatoric = moments[..., 1].exp().mean(dim=1)
    return Uncertainty(epistemic + aleatoric, epistemic, aleatoric)


def log_density(
    moments: Float[Tensor, "*draws D 2"], labels: Float[Tensor, "*#draws D"]
) -> Float[Tensor, "*draws D"]:
    """Log N(label; mean, variance) of every number."""
    mean, log_variance = moments.unbind(dim=-1)
    return -((labels - mean).square() * (-log_variance).exp() + log_variance + math.log(2 * math.pi)) / 2


def log_likelihood(moments: Moments, labels: Float[Tensor, "N D"]) -> SiteScores:
    """Log of the density averaged over the draws: a mixture of Gaussians, not one fitted to it."""
    each = log_density(moments, labels[:, None])
    return each.logsumexp(dim=1) - math.log(moments.shape[1])

"""Gaussians with a diagonal covariance: divergence from a prior, and log-density."""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def kl(mean: Float[Tensor, "*shape"], std: Float[Tensor, "*shape"], prior_std: float) -> Float[Tensor, ""]:
    """KL(q||p) in nats, summed over all weights, of q = N(mean, std^2) from p = N(0, prior_std^2).

    A sum and not a mean, and q first: the two places where public variational libraries go wrong.
    """
    ratio = std / prior_std
    return ((ratio.square() + (mean / prior_std).square() - 1) / 2 - ratio.log()).sum()


def log_density(
    x: Float[Tensor, "*shape"],
    mean: Float[Tensor, "*#shape"] | float,
    std: Float[Tensor, "*#shape"] | float,
) -> Float[Tensor, ""]:
    """Log N(x; mean, std^2), summed over all elements of x."""
    z = (x - mean) / std
    log_std = torch.as_tensor(std, dtype=x.dtype, device=x.device).log()
    return -(z.square() / 2 + log_std + math.log(2 * math.pi) / 2).sum()

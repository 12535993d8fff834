"""The marginal likelihood of a Gaussian approximation, and where a function of one number is highest."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

_GOLDEN = (math.sqrt(5) - 1) / 2


def log_evidence(log_likelihood: float, gain: float, squared: float, precision: float) -> float:
    """Log marginal likelihood by Laplace's method, at a mode under the prior N(0, 1/precision).

    `gain` is log det(1 + curvature / precision), `squared` the squared length of the mode. It is
    exact where the likelihood is Gaussian in the weights.
    """
    return log_likelihood - precision * squared / 2 - gain / 2


def log_det_gain(curvature: Float[Tensor, "D D"], precision: float) -> float:
    """The log det of 1 + curvature / precision."""
    grown = curvature / precision
    grown.diagonal().add_(1)
    return 2 * float(torch.linalg.cholesky(grown).diagonal().log().sum())


def highest(score: Callable[[float], float], low: float, high: float, *, within: float) -> float:
    """Where a function with one hill between two numbers is highest, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = score(left), score(right)
    while high - low > within:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = score(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = score(right)
    return (low + high) / 2

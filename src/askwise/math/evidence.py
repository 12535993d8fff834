"""The marginal likelihood of a Gaussian approximation, and where a function of one number is highest."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

_LOOKS = 20


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


def highest(score: Callable[[float], float], start: float, *, step: float, within: float) -> float:
    """Where a smooth function with one hill is highest, by parabolas through three looks.

    The looks begin at `start` and a step to either side, go on upwards in longer and longer steps,
    and end when a parabola's top is `within` so much of the best of them.
    """
    seen = {at: score(at) for at in (start, start - step, start + step)}
    while len(seen) < _LOOKS:
        known = sorted(seen)
        best = max(known, key=lambda x: (seen[x], -abs(x - start)))
        at = known.index(best)
        if 0 < at < len(known) - 1:
            new = _vertex(*((x, seen[x]) for x in known[at - 1 : at + 2]))
            if abs(new - best) <= within:
                return new
        else:
            step *= 1.5
            new = best + (step if at else -step)
        seen[new] = score(new)
    return max(seen, key=seen.__getitem__)


def _vertex(left: tuple[float, float], top: tuple[float, float], right: tuple[float, float]) -> float:
    """Where the parabola through three points is highest; the middle one is the highest of them."""
    before, after = top[0] - left[0], right[0] - top[0]
    rise, fall = (top[1] - left[1]) / before, (top[1] - right[1]) / after
    return top[0] + (rise * after - fall * before) / (2 * (rise + fall)) if rise + fall > 0 else top[0]

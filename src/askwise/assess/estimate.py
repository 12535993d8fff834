"""How many are there: the share of a class over a pool, from a few uniform answers and all predictions."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from askwise.assess.checks import between, probabilities, same_length
from askwise.errors import InputError
from askwise.math.betting import last_kept

LEAST = 10
"""Answers from which on an estimate is given."""

_PRIOR = 5  # answers that the start of weight and variance is worth
_START = 0.5  # of the weight: half of what a calibrated model deserves
_AIMS = (16, 64, 256, 1024)
"""Numbers of answers that the stakes are best for: a mixture of fair games is a fair game, at any look."""
_TRUNCATED = (
    0.75  # of the largest bet that cannot lose everything (Waudby-Smith and Ramdas 2023 use 1/2 and 3/4)
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A share or a mean over the pool, and its interval; `weight` is how far the predictions were trusted."""

    value: float
    low: float
    high: float
    answers: int
    weight: float
    alpha: float
    pool: int

    def more(self, width: int | float) -> int:
        """How many more uniform answers an interval of this width should take; all that are left if need be.

        The width falls with the root of the answers.
        """
        if not width > 0:
            raise InputError(f"a width must be above 0, not {width!r}")
        needed = math.ceil(self.answers * ((self.high - self.low) / width) ** 2) - self.answers
        return max(0, min(needed, self.pool - self.answers))


def prevalence(
    positive: Bool[Tensor, " n"],
    predicted: Float[Tensor, " n"],
    pool: Float[Tensor, " N"],
    *,
    alpha: int | float = 0.05,
) -> Estimate:
    """The share of a class in the pool, with an interval that is valid for any number of answers.

    One may look after every answer, and stop as soon as the interval is narrow enough: no bet depends on how
    many answers there will be.

    `positive` are answers to items drawn uniformly and without replacement from the pool, in the order of
    drawing; `predicted` is the model's probability of the class for them, `pool` the same for all items of
    the pool. The model has not learned from any of them. Answers are bet on one by one, each with the weight
    that the answers before it deserve (prediction-powered inference, tuned: Angelopoulos, Duchi and Zrnic
    2023), so the tuning costs nothing of the promise. Useless predictions get the weight 0, and the interval
    is that of the answers alone.

    >>> pool = torch.rand(2000, generator=torch.Generator().manual_seed(0))  # the chances that a model gives
    >>> found = aw.assess.prevalence(pool[:100] > 0.5, pool[:100], pool)
    >>> found.low < 0.5 < found.high, found.answers
    (True, 100)
    """
    between("alpha", alpha)
    predicted, pool = probabilities("predicted", predicted), probabilities("pool", pool)
    sizes(len(positive), len(predicted), len(pool))
    y, n, size = positive.double(), len(positive), len(pool)
    weight = _weights(y, predicted, pool)
    centre = pool.mean()
    z = y - weight * (predicted - centre)
    left = size - torch.arange(n, dtype=torch.float64)  # items not yet drawn, before each draw
    past_y, past_f = _before(y), _before(predicted)
    drift = weight * ((size * centre - past_f) / left - centre)
    low, high = -weight * (pool.max() - centre), 1 + weight * (centre - pool.min())
    aims = torch.tensor(_AIMS, dtype=torch.float64).unsqueeze(1)
    stakes = torch.sqrt(2 * math.log(2 / alpha) / (aims * _variances(z, pool)))  # [aims, n]

    def lost(share: Tensor, side: int) -> Bool[Tensor, ""]:
        """Whether a bet that the share is more (side 1) or less (side -1) than this has ever won 2/alpha."""
        mean = (size * share - past_y) / left - drift
        room = (mean - low if side > 0 else high - mean).clamp(min=1e-12)
        games = torch.log1p(side * torch.minimum(stakes, _TRUNCATED / room) * (z - mean)).cumsum(1)
        capital = games.logsumexp(0) - math.log(len(_AIMS))
        return capital.max() >= math.log(2 / alpha)

    seen = y.sum()
    least, most = seen / size, (seen + size - n) / size  # what the answers leave possible
    value = (z.mean()).clamp(least, most)
    below = last_kept(lambda share: lost(share, 1), value, least)
    above = last_kept(lambda share: lost(share, -1), value, most)
    return Estimate(
        value=float(value),
        low=float(below),
        high=float(above),
        answers=n,
        weight=float(weight[-1]),
        alpha=alpha,
        pool=size,
    )


def _weights(y: Tensor, f: Tensor, pool: Tensor) -> Tensor:
    """The weight of the predictions at every answer, from the answers before it."""
    away = f - pool.mean()
    prior = _PRIOR * pool.var(correction=0)
    if prior < 1e-12:  # the predictions are all the same, up to rounding
        return torch.zeros_like(y)
    together = _before((y - _running(y, pool)) * away) + _START * prior
    return (together / (_before(away.square()) + prior)).clamp(0, 1)


def _variances(z: Tensor, pool: Tensor) -> Tensor:
    """The variance to expect at every answer: the model's own at first, then that of the answers before."""
    start = (pool * (1 - pool)).mean().clamp(min=1e-4)
    gaps = _before((z - _running(z, pool)).square())
    return (_PRIOR * start + gaps) / (_PRIOR + torch.arange(len(z), dtype=torch.float64))


def _running(values: Tensor, pool: Tensor) -> Tensor:
    """The mean of the values before each one, begun with the pool's prediction as one value."""
    return (pool.mean() + _before(values)) / (1 + torch.arange(len(values), dtype=torch.float64))


def _before(values: Tensor) -> Tensor:
    """The sum of the values before each one."""
    return values.cumsum(0) - values


def sizes(answers: int, predicted: int, pool: int) -> None:
    """Refuse too few answers, and answers that do not fit the pool."""
    same_length(answers=answers, predicted=predicted)
    if answers < LEAST:
        raise InputError(
            f"an estimate needs at least {LEAST} answers, not {answers}; answer {LEAST - answers} more"
        )
    if answers > pool:
        raise InputError(
            f"there are {answers} answers for a pool of {pool}; answers are drawn without replacement"
        )

"""How many are there: the share of a class over a pool, from a few uniform answers and all predictions."""

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from askwise.assess.band import ABOVE, BELOW
from askwise.assess.checks import between, group_means, numbered, probabilities, same_length
from askwise.errors import InputError
from askwise.math.betting import last_kept, log_capital

GAMES = "a betting interval: it holds for any number of answers, however often one looks"
GROUPS = "a betting interval of the mean over groups, which are what is counted; predictions do not enter"
STUDENT = "a t interval: right for many answers"

LEAST = 10
"""Answers from which on an estimate is given."""

_PRIOR = 5  # answers that the start of weight and variance is worth
_START = 0.5  # of the weight: half of what a calibrated model deserves
_AIMS = (16, 64, 256, 1024)
"""Numbers of answers that the stakes are best for: a mixture of fair games is a fair game, at any look."""
_APART = 2.0  # standard deviations between the populations of the bet on the pool
_BLOCKS = 256  # of pools that are bet against together, as against the easiest among them
_TRUNCATED = (
    0.75  # of the largest bet that cannot lose everything (Waudby-Smith and Ramdas 2023 use 1/2 and 3/4)
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A share or a mean over the population, and its interval.

    `weight` is how far the predictions were trusted; answers are drawn from the `pool`, which is all of the
    population or a sample of it. `floor` is the width that answers to the whole pool would leave, `interval`
    says of what kind the interval is.
    """

    value: float
    low: float
    high: float
    answers: int
    weight: float
    alpha: float
    pool: int
    population: int
    floor: float
    interval: str

    def more(self, width: int | float) -> int:
        """How many more uniform answers an interval of this width should take; all that are left if need be.

        Where the width is below `floor`, these are not enough. Above it the width falls with the root of the
        answers.
        """
        if not width > 0:
            raise InputError(f"a width must be above 0, not {width!r}")
        now, left = self.high - self.low, self.pool - self.answers
        if width >= now or not left:
            return 0
        if width <= self.floor:
            return left
        share = (width**2 - self.floor**2) / (now**2 - self.floor**2)
        needed = 1 / (1 / self.pool + share * (1 / self.answers - 1 / self.pool))
        return min(math.ceil(needed) - self.answers, left)


def prevalence(
    positive: Bool[Tensor, " n"],
    predicted: Float[Tensor, " n"],
    pool: Float[Tensor, " N"],
    *,
    alpha: int | float = 0.05,
    population: int | None = None,
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

    Where the pool is itself a uniform sample, of a `population` of so many items, the share is that of the
    population. The predictions speak of the pool alone, and what the pool is likely to hold by chance enters
    the interval.

    >>> pool = torch.rand(2000, generator=torch.Generator().manual_seed(0))  # the chances that a model gives
    >>> found = aw.assess.prevalence(pool[:100] > 0.5, pool[:100], pool)
    >>> found.low < 0.5 < found.high, found.answers
    (True, 100)
    """
    between("alpha", alpha)
    predicted, pool = probabilities("predicted", predicted), probabilities("pool", pool)
    sizes(len(positive), len(predicted), len(pool), population)
    y, size = positive.double(), len(pool)
    whole = size if population is None else population
    least, value, weight = _least(y, predicted, pool, alpha, whole)
    others, _, _ = _least(1 - y, 1 - predicted, 1 - pool, alpha, whole)
    chance = _deviation((value * len(y) + 1) / (len(y) + 2), size, whole)
    return Estimate(
        value=value,
        low=least / whole,
        high=(whole - others) / whole,
        answers=len(y),
        weight=weight,
        alpha=alpha,
        pool=size,
        population=whole,
        floor=2 * chance * (math.log(2 / alpha) / _APART + _APART / 2),
        interval=GAMES,
    )


def group_prevalence(
    positive: Bool[Tensor, " n"],
    groups: Sequence[Hashable],
    *,
    pool: int,
    population: int | None = None,
    alpha: int | float = 0.05,
) -> Estimate:
    """The mean over groups (patients, outlets) of the share of a class, from uniform draws of groups.

    A draw is one of the `pool` groups, then an item in it. A group's answers are one value between 0 and 1,
    with the chance of these items in it: there is no correction for the groups that are left, and answers
    that are all equal leave a width.

    >>> found = aw.assess.group_prevalence(torch.zeros(30, dtype=torch.bool), range(30), pool=30)
    >>> found.low, round(found.high, 2)
    (0.0, 0.17)
    """
    between("alpha", alpha)
    same_length(answers=len(positive), groups=len(groups))
    names = numbered(groups)
    place = torch.tensor([names[one] for one in groups], dtype=torch.int64)
    values = group_means(positive.double(), place, len(names))
    sizes(len(values), len(values), pool, population)
    low, high = _bounds(values, alpha)
    width = (high - low) * math.sqrt(len(values) / pool)  # it falls with the root of the groups
    return Estimate(
        value=float(values.mean()),
        low=low,
        high=high,
        answers=len(values),
        weight=0.0,
        alpha=alpha,
        pool=pool,
        population=pool if population is None else population,
        floor=width,
        interval=GROUPS,
    )


def _bounds(values: Tensor, alpha: float) -> tuple[float, float]:
    """Lower and upper limit of the mean of values between 0 and 1; a class may be rare or common."""
    stakes, won = ABOVE + BELOW, math.log(2 / alpha)
    zero, one = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)

    def lost(mean: Tensor, edge: Tensor) -> Tensor:
        return log_capital(values.unsqueeze(0), mean, edge.unsqueeze(0), stakes) >= won

    low = last_kept(lambda m: lost(m, zero), one, zero)
    return float(low), float(last_kept(lambda m: lost(m, one), zero, one))


def _least(y: Tensor, f: Tensor, pool: Tensor, alpha: float, whole: int) -> tuple[int, float, float]:
    """How few positive items the population may have, the share by all answers, and the last weight.

    A population is excluded if for every pool that may come of it one game is won: the capital of the bets on
    the answers, times that of a bet on the pool.
    """
    n, size, seen, won = len(y), len(pool), int(y.sum()), math.log(2 / alpha)
    weight, centre = _weights(y, f, pool), pool.mean()
    z = y - weight * (f - centre)
    left = size - torch.arange(n, dtype=torch.float64)  # items not yet drawn, before each draw
    past_y, past_f = _before(y), _before(f)
    drift = weight * ((size * centre - past_f) / left - centre)
    low = -weight * (pool.max() - centre)
    aims = torch.tensor(_AIMS, dtype=torch.float64).view(-1, 1, 1)
    stakes = torch.sqrt(2 * won / (aims * _variances(z, pool)))  # [aims, 1, n]

    def gained(counts: Tensor) -> Tensor:
        """Log of the largest capital of bets that the pool has more positive items than this."""
        mean = (counts.double().unsqueeze(1) - past_y) / left - drift
        bets = torch.minimum(stakes, _TRUNCATED / (mean - low).clamp(min=1e-12))
        capital = torch.log1p(bets * (z - mean)).cumsum(-1).logsumexp(0) - math.log(len(_AIMS))
        return capital.amax(-1).clamp(min=0)

    most = seen + size - n  # what the answers leave possible
    value = float(z.mean().clamp(seen / size, most / size))
    top = round(value * size)
    possible = range(seen, top)  # below, the answers alone exclude the pool whatever the population
    start = seen + bisect_left(possible, True, key=lambda k: _one(gained, k) < won + math.log(2))
    blocks = torch.linspace(start, top, _BLOCKS, dtype=torch.float64).round().tolist()
    begin = torch.tensor(sorted(set(blocks)), dtype=torch.float64)
    end = torch.cat([begin[1:] - 1, torch.tensor([most], dtype=torch.float64)])
    capital = gained(end)

    def kept(positive: int) -> bool:
        """Whether so many positive items in the population are possible."""
        return float((capital + _drawn(begin, end, positive, size, whole)).min()) < won

    least = seen + bisect_left(range(seen, int(value * whole)), True, key=kept)
    return least, value, float(weight[-1])


def _one(gained: Callable[[Tensor], Tensor], count: int) -> float:
    return float(gained(torch.tensor([count])))


def _drawn(begin: Tensor, end: Tensor, positive: int, size: int, whole: int) -> Tensor:
    """Log of the capital of one bet that a pool has more positive items than so many in its population bring.

    For pools that have from `begin` to `end` positive items the least of it, without a limit where no such
    pool can be drawn. Half of the capital is at stake, on a population with more: a likelihood ratio is fair.
    """
    share = (positive + 1) / (whole + 2)
    more = min(whole, positive + round(_APART * whole * _deviation(share, size, whole)))
    k = begin.clamp(min=size - (whole - positive))
    fair = (
        _ways(more, k)
        + _ways(whole - more, size - k)
        - _ways(positive, k)
        - _ways(whole - positive, size - k)
    )
    capital = torch.logaddexp(torch.zeros_like(fair), fair) - math.log(2)
    return torch.where((k <= end) & (k <= positive), capital, math.inf)


def _ways(items: int, taken: Tensor) -> Tensor:
    """Log of the number of ways to take so many of the items."""
    top = torch.tensor(items + 1.0, dtype=torch.float64)
    rest = (items - taken).clamp(min=0)
    ways = top.lgamma() - (taken + 1).lgamma() - (rest + 1).lgamma()
    return torch.where(taken <= items, ways, -math.inf)


def _deviation(share: float, size: int, whole: int) -> float:
    """The standard deviation of the share in a uniform sample of so many items of the whole."""
    return math.sqrt(share * (1 - share) * (1 / size - 1 / whole))


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


def sizes(answers: int, predicted: int, pool: int, population: int | None) -> None:
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
    if population is not None and population < pool:
        raise InputError(f"a pool of {pool} is no sample of a population of {population}; give all its items")

"""The mean of a number over a pool and its parts, from uniform answers and all predictions."""

import math
from collections.abc import Hashable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.assess.checks import between, finite, group_means, numbered, same_length
from askwise.assess.estimate import LEAST, Estimate, sizes
from askwise.errors import InputError


def mean(
    answers: Float[Tensor, " n"],
    predicted: Float[Tensor, " n"],
    pool: Float[Tensor, " N"],
    *,
    alpha: int | float = 0.05,
    groups: Sequence[Hashable] | None = None,
    pool_groups: Sequence[Hashable] | None = None,
) -> Estimate:
    """The mean of a number over the pool, with a t interval: for many answers, not for any number of them.

    With groups (patients, outlets) a draw is a group, then an item in it: the mean is over groups, and n
    counts them.

    >>> pool = torch.arange(1000) / 1000  # a model's numbers for all items
    >>> found = aw.assess.mean(pool[::10] + 0.1, pool[::10], pool)  # every answer is .1 above them
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.6, 0.6, 0.6)
    """
    between("alpha", alpha)
    answers, predicted = finite("answers", answers), finite("predicted", predicted)
    pool = finite("pool", pool)
    same_length(answers=len(answers), predicted=len(predicted))
    if groups is not None:
        answers, predicted, pool = _grouped(answers, pool, groups, pool_groups)
    sizes(len(answers), len(predicted), len(pool))
    value, variance, freedom, weight = _powered(answers, predicted, pool)
    counts = {"answers": len(answers), "pool": len(pool)}
    return _around(value, variance, freedom, weight=weight, alpha=alpha, **counts)


def stratified(
    answers: Float[Tensor, " n"],
    predicted: Float[Tensor, " n"],
    strata: Sequence[Hashable],
    pool: Float[Tensor, " N"],
    pool_strata: Sequence[Hashable],
    *,
    alpha: int | float = 0.05,
) -> tuple[Estimate, Mapping[Hashable, Estimate]]:
    """The mean over the pool and over every stratum of it, where answers are uniform within each stratum.

    The shares of answers may differ between strata. The intervals are t intervals, each at its own alpha; for
    the share of one class in one stratum, `prevalence` of that stratum is valid for any number of answers.

    >>> pool, strata = torch.arange(400) / 400, ["day", "night"] * 200
    >>> whole, parts = aw.assess.stratified(pool[:80], pool[:80], strata[:80], pool, strata)
    >>> round(whole.value, 2), sorted(parts)
    (0.5, ['day', 'night'])
    """
    between("alpha", alpha)
    same_length(answers=len(answers), predicted=len(predicted), strata=len(strata))
    same_length(pool=len(pool), pool_strata=len(pool_strata))
    answers, predicted, pool = (
        finite(n, v) for n, v in (("answers", answers), ("predicted", predicted), ("pool", pool))
    )
    names = numbered(pool_strata)
    unknown = [one for one in strata if one not in names]
    if unknown:
        raise InputError(f"the pool has no stratum {unknown[0]!r}, and an answer is in it")
    of_answer = torch.tensor([names[one] for one in strata], dtype=torch.int64)
    of_item = torch.tensor([names[one] for one in pool_strata], dtype=torch.int64)
    each: dict[Hashable, Estimate] = {}
    value, variance, lost = 0.0, 0.0, 0.0
    for name, number in names.items():
        mine, items = of_answer == number, of_item == number
        if int(mine.sum()) < LEAST and mine.sum() < items.sum():
            raise InputError(
                f"stratum {name!r} has {int(mine.sum())} answers, and needs at least {LEAST}; answer more"
            )
        found, spread, freedom, weight = _powered(answers[mine], predicted[mine], pool[items])
        share = float(items.double().mean())
        counts = {"answers": int(mine.sum()), "pool": int(items.sum())}
        each[name] = _around(found, spread, freedom, weight=weight, alpha=alpha, **counts)
        value, variance = value + share * found, variance + share**2 * spread
        lost += (share**2 * spread) ** 2 / max(1, freedom)
    weight = math.fsum(one.weight * one.pool for one in each.values()) / len(pool)
    degrees = variance**2 / lost if lost else math.inf  # Satterthwaite
    counts = {"answers": len(answers), "pool": len(pool)}
    return _around(value, variance, degrees, weight=weight, alpha=alpha, **counts), each


def _around(
    value: float,
    variance: float,
    freedom: int | float,
    *,
    weight: float,
    alpha: int | float,
    answers: int,
    pool: int,
) -> Estimate:
    """The value with its t interval."""
    edge = _t(freedom, alpha) * math.sqrt(variance) if variance else 0.0
    low, high = value - edge, value + edge
    return Estimate(
        value=value, low=low, high=high, answers=answers, weight=weight, alpha=float(alpha), pool=pool
    )


def _powered(answers: Tensor, predicted: Tensor, pool: Tensor) -> tuple[float, float, int, float]:
    """Mean, its variance, the degrees of freedom and the tuned weight, which costs one of them."""
    n, size = len(answers), len(pool)
    if n == size:
        return float(answers.mean()), 0.0, 0, 0.0
    spread = predicted.var()
    weight, freedom = 0.0, n - 1
    if spread > 0:
        together = ((answers - answers.mean()) * (predicted - predicted.mean())).sum() / (n - 1)
        weight, freedom = float((together / spread).clamp(0, 1)), n - 2
    z = answers - weight * (predicted - pool.mean())
    variance = float((z - z.mean()).square().sum()) / freedom
    return float(z.mean()), variance / n * (1 - n / size), freedom, weight


def _grouped(
    answers: Tensor,
    pool: Tensor,
    groups: Sequence[Hashable],
    pool_groups: Sequence[Hashable] | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Means of groups in place of items."""
    if pool_groups is None:
        raise InputError("the answers have groups; give pool_groups, the group of every item of the pool")
    same_length(answers=len(answers), groups=len(groups))
    same_length(pool=len(pool), pool_groups=len(pool_groups))
    names, places = numbered(groups), numbered(pool_groups)
    unknown = [name for name in names if name not in places]
    if unknown:
        raise InputError(f"the pool has no group {unknown[0]!r}, and an answer is in it")
    of_answer = torch.tensor([names[one] for one in groups], dtype=torch.int64)
    of_item = torch.tensor([places[one] for one in pool_groups], dtype=torch.int64)
    every = group_means(pool, of_item, len(places))
    return group_means(answers, of_answer, len(names)), every[[places[name] for name in names]], every


def _t(freedom: int | float, alpha: float) -> float:
    """The two-sided quantile of Student's t distribution."""
    from scipy import special  # when it is needed: importing it takes half a second

    return float(special.stdtrit(freedom, 1 - alpha / 2))

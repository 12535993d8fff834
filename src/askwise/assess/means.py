"""The mean of a number over a pool and its parts, from uniform answers and all predictions."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.assess.checks import between, finite, group_means, numbered, same_length
from askwise.assess.estimate import LEAST, STUDENT, Estimate, sizes
from askwise.errors import InputError


def mean(
    answers: Float[Tensor, " n"],
    predicted: Float[Tensor, " n"],
    pool: Float[Tensor, " N"],
    *,
    alpha: int | float = 0.05,
    groups: Sequence[Hashable] | None = None,
    pool_groups: Sequence[Hashable] | None = None,
    population: int | None = None,
) -> Estimate:
    """The mean of a number over the pool, with a t interval: for many answers, not for any number of them.

    With groups (patients, outlets) a draw is a group, then an item in it: the mean is over groups, and n
    counts them. Where the pool is itself a uniform sample, of a `population` of so many items (or groups),
    the mean is that of the population.

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
    sizes(len(answers), len(predicted), len(pool), population)
    whole = len(pool) if population is None else population
    found = _powered(answers, predicted, pool, whole if groups is None else math.inf)
    counts = {"answers": len(answers), "pool": len(pool), "population": whole}
    return _around(
        found.value,
        found.variance(**counts),
        found.freedom,
        weight=found.weight,
        alpha=alpha,
        at_best=found.variance(**counts | {"answers": len(pool)}),
        **counts,
    )


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
        size, share = int(items.sum()), float(items.double().mean())
        found = _powered(answers[mine], predicted[mine], pool[items], size)
        counts = {"answers": int(mine.sum()), "pool": size, "population": size}
        spread = found.variance(**counts)
        each[name] = _around(found.value, spread, found.freedom, weight=found.weight, alpha=alpha, **counts)
        value, variance = value + share * found.value, variance + share**2 * spread
        lost += (share**2 * spread) ** 2 / max(1, found.freedom)
    weight = math.fsum(one.weight * one.pool for one in each.values()) / len(pool)
    degrees = variance**2 / lost if lost else math.inf  # Satterthwaite
    counts = {"answers": len(answers), "pool": len(pool), "population": len(pool)}
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
    population: int,
    at_best: float = 0.0,
) -> Estimate:
    """The value with its t interval; `at_best` is the variance when the whole pool is answered."""
    edge, least = (_t(freedom, alpha) * math.sqrt(v) if v else 0.0 for v in (variance, at_best))
    return Estimate(
        value=value,
        low=value - edge,
        high=value + edge,
        answers=answers,
        weight=weight,
        alpha=float(alpha),
        pool=pool,
        population=population,
        floor=2 * least,
        interval=STUDENT,
    )


@dataclass(frozen=True)
class _Powered:
    """A mean with the tuned weight, and the variance of answers that predictions leave or explain."""

    value: float
    weight: float
    left: float
    explained: float
    freedom: int
    settled: int | float

    def variance(self, answers: int, pool: int, population: int) -> float:
        """Of the mean: the answers tell what predictions leave, the pool what they explain (two phases)."""
        drawn = self.left * (1 / answers - 1 / self.settled)
        return drawn + self.explained * (1 / pool - 1 / population)


def _powered(answers: Tensor, predicted: Tensor, pool: Tensor, settled: int | float) -> _Powered:
    """The mean, which so many answers settle; fitting the weight costs a degree of freedom."""
    n = len(answers)
    if n == settled:
        return _Powered(float(answers.mean()), 0.0, 0.0, 0.0, 0, settled)
    spread, total = predicted.var(), float(answers.var())
    weight, freedom = 0.0, n - 1
    if spread > 0:
        together = ((answers - answers.mean()) * (predicted - predicted.mean())).sum() / (n - 1)
        weight, freedom = float((together / spread).clamp(0, 1)), n - 2
    z = answers - weight * (predicted - pool.mean())
    left = float((z - z.mean()).square().sum()) / freedom
    return _Powered(float(z.mean()), weight, left, max(0.0, total - left), freedom, settled)


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

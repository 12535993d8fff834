"""Differences between methods, paired over seeds: Student's t, and Holm's correction within a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from askwise.errors import InputError

POWER = 0.8
"""How often a gap of the `detectable` size would have been found."""

Verdict: TypeAlias = Literal["higher", "lower", "undecided"]

_ROUNDING = 2**-49  # differences this small beside their values are left by rounding, and taken for 0


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Mean of n paired differences with its t interval, and what n pairs could have shown.

    `p` is two-sided. `detectable` is the true gap that a t test at this confidence, of n pairs whose
    differences have the standard deviation seen here, finds with its right sign in 80 % of cases
    (by the noncentral t distribution; before any correction for several comparisons). Where all pairs
    differ by the same, `p` is that of the sign test: a few rounded values often agree by chance.
    """

    n: int
    mean: float
    low: float
    high: float
    p: float
    detectable: float
    confidence: float


def difference(
    ours: Sequence[int | float], baseline: Sequence[int | float], *, confidence: float = 0.95
) -> Difference:
    """Ours minus the baseline, where equal positions belong together (the same seed, the same split)."""
    if len(ours) != len(baseline):
        raise InputError(f"pairs need as many values on both sides, not {len(ours)} and {len(baseline)}")
    if len(ours) < 2:
        raise InputError(f"a difference over seeds needs at least 2 of them, not {len(ours)}; run more seeds")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, not {confidence!r}")
    if not all(math.isfinite(value) for value in (*ours, *baseline)):
        raise InputError("a difference needs finite values on both sides; leave out pairs without a value")
    n, rounding = len(ours), _ROUNDING * max(map(abs, (*ours, *baseline)))
    gaps = [a - b for a, b in zip(ours, baseline, strict=True)]
    mean = fmean(gaps)
    if max(gaps) - min(gaps) <= rounding:
        mean = mean if abs(mean) > rounding else 0.0
        p = (
            2.0 ** (1 - n) if mean else 1.0
        )  # a t test knows nothing here; that all signs agree has this chance
        return Difference(n=n, mean=mean, low=mean, high=mean, p=p, detectable=0.0, confidence=confidence)
    from scipy import special  # when it is needed: importing it takes half a second

    error = stdev(gaps) / math.sqrt(n)
    edge = float(special.stdtrit(n - 1, (1 + confidence) / 2))
    return Difference(
        n=n,
        mean=mean,
        low=mean - edge * error,
        high=mean + edge * error,
        p=float(2 * special.stdtr(n - 1, -abs(mean) / error)),
        # the noncentrality at which t stays below the edge in the other 20 % of cases
        detectable=float(special.nctdtrinc(n - 1, 1 - POWER, edge)) * error,
        confidence=confidence,
    )


def holm(p: Sequence[int | float]) -> list[float]:
    """The p-values as Holm adjusts them for being several (1979), in the order given.

    Called different where the adjusted value is at most .05, the chance of any false call among all
    of them is at most 5 %, however they depend on each other.
    """
    if not all(0 <= value <= 1 for value in p):
        raise InputError(f"p-values lie between 0 and 1; found: {', '.join(map(str, p))}")
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def verdict(difference: Difference, adjusted_p: int | float) -> Verdict:
    """Whether ours is higher or lower; undecided if the interval holds 0 or Holm's p is too large."""
    holds_zero = difference.low <= 0 <= difference.high
    if holds_zero or adjusted_p > 1 - difference.confidence:
        return "undecided"
    return "higher" if difference.mean > 0 else "lower"

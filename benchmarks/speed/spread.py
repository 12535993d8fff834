"""A median with what lies around it."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """A median, the lowest and the highest."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """The spread of some values."""
    return Spread(statistics.median(values), min(values), max(values))


def ratios(theirs: Sequence[float], ours: Sequence[float]) -> Spread:
    """How many times as long as ours theirs took, round by round."""
    return spread([b / a for a, b in zip(ours, theirs, strict=True)])

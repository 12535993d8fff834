"""Axes: where a value lies, in percent of the plot, and which values are written beside it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from askwise.report.number import Number

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Axis:
    """A straight scale from `low` to `high`."""

    low: Number
    high: Number
    ticks: tuple[Number, ...]
    label: str
    write: Callable[[Number], str]

    def at(self, value: Number) -> float:
        """The place of a value, in percent from the low end; values outside stop at the edge."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def axis(
    low: Number,
    high: Number,
    *,
    label: str,
    write: Callable[[Number], str],
    count: int = 5,
    snug: bool = False,
) -> Axis:
    """An axis with about `count` round ticks; unless snug, its ends are ticks too."""
    if not high > low:  # one point, or all equal: make room around it
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(s * power for s in _STEPS if s * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 10) for number in range(first, last + 1))
    if snug:
        ticks = tuple(tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9)
        return Axis(low, high, ticks, label, write)
    return Axis(ticks[0], ticks[-1], ticks, label, write)

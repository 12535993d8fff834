"""Which temperature suits predictions best: the search, and the prior that keeps few labels from extremes."""

import math
from collections.abc import Callable, Sequence

HIGHEST = 20.0
"""And its inverse is the lowest."""
_HALF, _PASSES = 6, 4  # 13 temperatures, then 13 around the best, ...: in the end 0.2 % apart


def prior(temperature: float) -> float:
    """What is added to the NLL at a temperature: log T is normal with a deviation of a half.

    Read off TREC and TrashNet: of seven deviations from 2 to .18 it gave the lowest NLL of new items, summed
    over 10, 20 and 30 test answers.
    """
    return 2 * math.log(temperature) ** 2


def best_temperature(total: Callable[[Sequence[float]], Sequence[float]]) -> float:
    """The temperature at which `total`, a number for each of some temperatures, is least."""
    best, span = 0.0, math.log(HIGHEST)
    for _ in range(_PASSES):
        logs = [_bounded(best + span * number / _HALF) for number in range(-_HALF, _HALF + 1)]
        found = total([math.exp(log) for log in logs])
        best = min(zip(found, map(abs, logs), logs, strict=True))[-1]
        span /= _HALF
    return math.exp(best)


def _bounded(log: float) -> float:
    return min(max(log, -math.log(HIGHEST)), math.log(HIGHEST))

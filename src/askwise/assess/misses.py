"""How often a person misses what is wrong among many items, by items whose answer is known."""

from dataclasses import dataclass

from askwise.assess.checks import between
from askwise.errors import InputError


@dataclass(frozen=True)
class Misses:
    """The share of known items that were missed, and the interval that covers the true one."""

    missed: int
    shown: int
    rate: float
    low: float
    high: float

    def above(self, bound: float) -> bool:
        """Whether the rate is above a bound, and the interval shows that it is above half of it.

        A rate alone passes a bound by chance when few items were shown, and the more often the longer one
        looks; an interval that lies above the bound takes too long to get there.
        """
        return self.rate > bound and self.low > bound / 2


def misses(missed: int, shown: int, *, confidence: float = 0.95) -> Misses:
    """The rate of misses with its exact binomial interval (Clopper and Pearson 1934).

    Whatever the true rate, an interval of a number of items fixed beforehand covers it with at least this
    probability.

    >>> found = aw.assess.misses(1, 20)
    >>> found.rate, round(found.low, 3), round(found.high, 3)
    (0.05, 0.001, 0.249)
    """
    between("confidence", confidence)
    for name, value in (("missed", missed), ("shown", shown)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} must be a whole number from 0 on, not {value!r}")
    if missed > shown:
        raise InputError(f"{missed} missed of {shown} shown cannot be; at most all are missed")
    from scipy import special  # when it is needed: importing it takes half a second

    tail = (1 - confidence) / 2
    low = 0.0 if missed == 0 else float(special.betaincinv(missed, shown - missed + 1, tail))
    high = 1.0 if missed == shown else float(special.betaincinv(missed + 1, shown - missed, 1 - tail))
    return Misses(missed, shown, missed / shown if shown else 0.0, low, high)

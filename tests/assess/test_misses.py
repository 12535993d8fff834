"""The interval of a rate of misses is the exact binomial one."""

import math

import pytest

from askwise.assess import misses
from askwise.errors import InputError


def tail(missed, shown, rate):
    """The probability of at least so many misses."""
    return sum(math.comb(shown, k) * rate**k * (1 - rate) ** (shown - k) for k in range(missed, shown + 1))


@pytest.mark.parametrize(("missed", "shown"), [(1, 10), (3, 10), (2, 40), (39, 40), (20, 200)])
def test_the_ends_leave_a_fortieth_of_the_binomial_on_either_side(missed, shown):
    found = misses(missed, shown)
    assert found.rate == missed / shown
    assert tail(missed, shown, found.low) == pytest.approx(0.025)
    assert 1 - tail(missed + 1, shown, found.high) == pytest.approx(0.025)


def test_nothing_missed_or_all_missed_ends_at_the_border():
    none, everything = misses(0, 12), misses(12, 12)
    assert (none.low, everything.high) == (0.0, 1.0)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 12))
    assert everything.low == pytest.approx(0.025 ** (1 / 12))
    empty = misses(0, 0)
    assert (empty.rate, empty.low, empty.high) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("rate", [0.03, 0.1, 0.3, 0.5])
def test_the_interval_covers_every_rate_at_least_as_often_as_it_promises(rate):
    shown = 30
    ranges = [misses(missed, shown) for missed in range(shown + 1)]
    chance = [tail(k, shown, rate) - tail(k + 1, shown, rate) for k in range(shown + 1)]
    covered = sum(c for c, one in zip(chance, ranges, strict=True) if one.low <= rate <= one.high)
    assert covered >= 0.95
    half = [((one.low + one.rate) / 2, (one.high + one.rate) / 2) for one in ranges]
    narrow = sum(c for c, (low, high) in zip(chance, half, strict=True) if low <= rate <= high)
    assert narrow < 0.95, "an interval half as wide must fail"


def test_a_bound_is_passed_by_the_rate_once_the_interval_is_above_half_of_it():
    assert [shown for shown in range(2, 40) if misses(2, shown).above(0.2)] == [2]
    assert [shown for shown in range(3, 40) if misses(3, shown).above(0.2)] == [3, 4, 5, 6]
    assert [shown for shown in range(6, 40) if misses(6, shown).above(0.2)] == list(range(6, 24))
    assert not misses(1, 1).above(0.2)
    assert misses(50, 240).above(0.2)  # with many items the rate alone decides
    assert not misses(48, 240).above(0.2)
    assert not misses(0, 0).above(0.1)


@pytest.mark.parametrize(("missed", "shown"), [(2, 1), (-1, 3), (True, 3)])
def test_counts_that_cannot_be_are_refused(missed, shown):
    with pytest.raises(InputError):
        misses(missed, shown)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.report.figure import axis


def made(low, high, **options):
    return axis(low, high, label="", write=str, **options)


def test_ends_are_at_0_and_100_percent():
    found = made(0, 1)
    assert (found.at(0), found.at(0.5), found.at(1)) == (0, 50, 100)


def test_values_outside_stop_at_the_edge():
    assert (made(0, 1).at(-3), made(0, 1).at(7)) == (0, 100)


def test_ticks_are_round_numbers():
    assert made(0.42, 1.0, count=7).ticks == (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert made(20, 200, count=8, snug=True).ticks == (25, 50, 75, 100, 125, 150, 175, 200)


@pytest.mark.parametrize("value", [0, 20, -3])
def test_one_value_gets_room_on_both_sides(value):
    found = made(value, value)
    assert found.low < value < found.high


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 10), st.booleans())
def test_ticks_lie_on_the_axis_and_the_axis_holds_the_values(low, width, count, snug):
    found = made(low, low + width, count=count, snug=snug)
    slack = 1e-6 * max(1, abs(low) + width)
    assert found.low <= low + slack
    assert found.high >= low + width - slack
    assert all(found.low - slack <= tick <= found.high + slack for tick in found.ticks)
    assert len(found.ticks) <= count + 2

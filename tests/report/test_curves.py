import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import InputError
from askwise.report.content import Curve
from askwise.report.curves import Cost, cost, labels_to, saving, spread

LABELS = [10, 20, 30, 40, 50]


def test_the_first_round_whose_average_with_the_next_two_reaches_the_target():
    assert labels_to(0.9, LABELS, [0.5, 0.89, 0.90, 0.91, 0.92]) == 20  # 0.89 itself is below


def test_one_lucky_round_does_not_count():
    assert labels_to(0.9, LABELS, [0.5, 0.95, 0.6, 0.7, 0.8]) is None


def test_the_last_two_rounds_have_no_full_average():
    assert labels_to(0.9, LABELS, [0.1, 0.1, 0.1, 0.99, 0.99]) is None
    assert labels_to(0.9, LABELS, [0.1, 0.1, 0.99, 0.99, 0.99]) == 30


def test_exactly_the_target_is_reached_whatever_the_rounding():
    assert labels_to(0.95, LABELS, [0.95] * 5) == 10
    assert labels_to(0.7, LABELS, [0.1, 0.7, 0.7, 0.7, 0.7]) == 20


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_fewer_than_three_rounds_prove_nothing(rounds):
    assert labels_to(0.5, LABELS[:rounds], [1.0] * rounds) is None


def test_lengths_that_differ_are_refused():
    with pytest.raises(InputError, match="5 counts of labels do not fit 4 accuracies"):
        labels_to(0.9, LABELS, [0.5] * 4)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_target_never_costs_less(accuracies, one, other):
    labels = list(range(10, 10 + len(accuracies)))
    low, high = (labels_to(t, labels, accuracies) for t in sorted((one, other)))
    assert (low or math.inf) <= (high or math.inf)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12), st.floats(0, 1))
def test_it_is_the_brute_force_over_windows(accuracies, target):
    windows = [sum(accuracies[i : i + 3]) / 3 >= target - 1e-10 for i in range(len(accuracies) - 2)]
    found = labels_to(target, list(range(len(accuracies))), accuracies)
    assert found == (windows.index(True) if True in windows else None)


def curve(*rows, labels=LABELS):
    return Curve("bald", tuple(range(len(rows))), labels, rows)


SLOW, FAST, NEVER = [0.1, 0.1, 0.9, 0.9, 0.9], [0.9] * 5, [0.1] * 5


def test_the_median_over_seeds_counts_a_seed_that_never_arrives_as_infinite():
    assert cost(0.9, curve(FAST, SLOW, NEVER)) == Cost(30, 10, math.inf, 50)
    assert cost(0.9, curve(FAST, NEVER)).median == math.inf
    assert cost(0.9, curve(FAST, SLOW)).median == 20


def test_half_the_labels_are_half_saved():
    found = saving(Cost(60, 60, 60, 200), Cost(120, 120, 120, 200))
    assert (found.fraction, found.at_least) == (0.5, False)


def test_a_worse_choice_saves_a_negative_share():
    assert saving(Cost(180, 180, 180, 200), Cost(120, 120, 120, 200)).fraction == -0.5


def test_a_baseline_that_never_arrives_gives_a_bound():
    found = saving(Cost(50, 50, 50, 200), Cost(math.inf, 150, math.inf, 200))
    assert (found.fraction, found.at_least) == (0.75, True)


@pytest.mark.parametrize(
    ("ours", "budget"), [(math.inf, 200), (300.0, 200)], ids=["never arrived", "beyond the baseline's budget"]
)
def test_nothing_is_claimed_where_nothing_is_known(ours, budget):
    assert saving(Cost(ours, ours, ours, 400), Cost(math.inf, math.inf, math.inf, budget)) is None


def test_the_spread_is_mean_lowest_and_highest_of_each_round():
    over = spread(curve([0.0, 0.5, 1.0], [0.5, 0.5, 0.0], labels=[1, 2, 3]))
    assert (over.mean, over.low, over.high) == ([0.25, 0.5, 0.5], [0.0, 0.5, 0.0], [0.5, 0.5, 1.0])

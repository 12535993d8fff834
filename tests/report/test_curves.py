import math
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import InputError
from askwise.report.content import Curve
from askwise.report.curves import Cost, area, cost, first_hit, labels_to, saving, spread

LABELS = [10, 20, 30, 40, 50]


def test_the_round_that_completes_three_in_a_row_is_credited():
    assert labels_to(0.9, LABELS, [0.5, 0.89, 0.90, 0.91, 0.92]) == 40  # their mean; 0.89 itself is below


def test_one_lucky_round_does_not_count():
    assert labels_to(0.9, LABELS, [0.5, 0.95, 0.6, 0.7, 0.8]) is None


def test_no_run_is_credited_before_a_round_reached_the_target():
    accuracies = [0.5, 0.88, 0.92, 0.93, 0.93]
    assert first_hit(0.9, LABELS, accuracies) == 30
    assert labels_to(0.9, LABELS, accuracies) == 40
    assert looking_ahead(0.9, LABELS, accuracies) == 20  # the control: the rule as it was


def test_the_last_round_can_be_it():
    assert labels_to(0.9, LABELS, [0.1, 0.1, 0.99, 0.99, 0.99]) == 50
    assert labels_to(0.9, LABELS, [0.1, 0.1, 0.1, 0.99, 0.99]) is None


def test_exactly_the_target_is_reached_whatever_the_rounding():
    assert labels_to(0.95, LABELS, [0.95] * 5) == 30
    assert labels_to(0.7, LABELS, [0.1, 0.7, 0.7, 0.7, 0.7]) == 40
    assert first_hit(0.3, LABELS, [0.1, 0.1, 0.1 + 0.2, 0.3, 0.3]) == 30


def looking_ahead(target, labels, accuracies):
    windows = (i for i in range(len(labels) - 2) if sum(accuracies[i : i + 3]) >= 3 * target)
    return next((labels[i] for i in windows), None)


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
    assert found == (windows.index(True) + 2 if True in windows else None)


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0, 1))
def test_the_first_hit_is_never_after_the_three_in_a_row(accuracies, target):
    labels = list(range(10, 10 + len(accuracies)))
    hit, held = first_hit(target, labels, accuracies), labels_to(target, labels, accuracies)
    assert (hit or math.inf) <= (held or math.inf)
    assert hit is None or accuracies[labels.index(hit)] >= target - 1e-9
    assert hit is not None or all(value < target for value in accuracies)


def test_the_area_of_a_straight_line_is_its_middle():
    assert area([10, 20, 50], [0.1, 0.2, 0.5], budget=50) == pytest.approx(0.3)
    assert area([10, 20, 50], [0.1, 0.2, 0.5], budget=30) == pytest.approx(0.2)  # between two rounds
    assert area([10, 50], [0.1, 0.5], budget=10) == 0.1


def test_the_area_weighs_rounds_by_their_labels():
    assert area([0, 10, 100], [0.0, 1.0, 1.0], budget=100) == pytest.approx(0.95)
    assert fmean([0.0, 1.0, 1.0]) == pytest.approx(2 / 3)  # the control: rounds as if they cost the same


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(1, 60))
def test_the_area_is_the_mean_of_the_curve_at_every_label(accuracies, budget):
    labels = [5 * place for place in range(len(accuracies))]
    budget = min(budget, labels[-1])
    fine = np.interp(
        np.linspace(0, budget, 20 * budget + 1), labels, accuracies
    )  # every corner is on the grid
    brute = np.trapezoid(fine) / (20 * budget)
    assert area(labels, accuracies, budget=budget) == pytest.approx(brute, abs=1e-9)


@pytest.mark.parametrize(
    ("budget", "said"), [(60, "goes from 10 to 50 labels"), (5, "goes from 10 to 50 labels")]
)
def test_a_curve_that_ends_before_the_budget_has_no_area(budget, said):
    with pytest.raises(InputError, match=said):
        area(LABELS, [0.5] * 5, budget=budget)
    with pytest.raises(InputError, match="has no rounds"):
        area([], [], budget=budget)


def curve(*rows, labels=LABELS):
    return Curve("bald", tuple(range(len(rows))), labels, rows)


SLOW, FAST, NEVER = [0.1, 0.1, 0.9, 0.9, 0.9], [0.9] * 5, [0.1] * 5


def test_the_median_over_seeds_counts_a_seed_that_never_arrives_as_infinite():
    assert cost(0.9, curve(FAST, SLOW, NEVER)) == Cost(50, 30, math.inf, 50)
    assert cost(0.9, curve(FAST, NEVER)).median == math.inf
    assert cost(0.9, curve(FAST, SLOW)).median == 40


def test_first_hits_have_a_median_of_their_own():
    assert cost(0.9, curve(FAST, SLOW, NEVER), by=first_hit) == Cost(30, 10, math.inf, 50)


def test_labels_for_validation_count_in_what_a_target_cost_and_in_what_was_saved():
    fast, slow = (
        replace(curve(row), validation=100) for row in ([0.1, 0.9, 0.9, 0.9, 0.9], [0.1, 0.1, 0.9, 0.9, 0.9])
    )
    assert cost(0.9, fast) == Cost(140, 140, 140, 150)
    assert saving(cost(0.9, fast), cost(0.9, slow)).fraction == pytest.approx(1 - 140 / 150)
    control = saving(*(cost(0.9, replace(one, validation=0)) for one in (fast, slow)))
    assert control.fraction == pytest.approx(1 - 40 / 50)  # what a run without them would claim


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

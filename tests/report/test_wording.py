import math

import pytest

from askwise.report import wording
from askwise.report.curves import Cost, Saving


def plain(written: str) -> str:
    return written.replace(wording.NARROW, " ")


def test_never_reached_is_more_than_the_budget():
    assert plain(wording.labels(Cost(math.inf, math.inf, math.inf, 1200))) == "> 1,200"
    assert wording.labels(Cost(1100, 1000, math.inf, 1200)) == "1,100"


def test_the_range_names_what_was_not_reached():
    assert plain(wording.span(Cost(80, 70, math.inf, 200))) == "70–> 200"
    assert wording.span(Cost(80, 70, 90, 200)) == "70–90"
    assert wording.span(Cost(80, 80, 80, 200)) == ""
    assert wording.span(Cost(math.inf, math.inf, math.inf, 200)) == ""


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (Saving(0.45, at_least=False), "45 %"),
        (Saving(0.45, at_least=True), "> 45 %"),
        (Saving(-0.2, at_least=False), "−20 %"),
        (Saving(-0.001, at_least=False), "0 %"),
        (None, "–"),
    ],
)
def test_savings(found, written):
    assert plain(wording.saved(found)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0123, "12 ms"), (3.14, "3.1 s"), (119, "119.0 s"), (300, "5.0 min"), (9000, "2.5 h")],
)
def test_durations(value, written):
    assert plain(wording.seconds(value)) == written


def test_half_a_label_comes_from_a_median():
    assert wording.count(122.5) == "122.5"
    assert wording.count(12000) == "12,000"


def test_small_scores_keep_their_digits():
    assert wording.decimal(0.0000123) == "1.23e-05"
    assert wording.decimal(0) == "0.000"
    assert wording.decimal(0.5) == "0.500"


def test_nested_settings_become_lines():
    values = {"a": {"b": {"c": 1}, "d": None}, "e": ["x", 2], "f": {}, "g": []}
    assert wording.flat(values) == [("a.b.c", "1"), ("a.d", "–"), ("e", "x, 2"), ("f", "–"), ("g", "–")]


def test_differences_are_points_with_a_sign():
    assert (wording.points(0.01423), wording.points(-0.002), wording.points(-1e-9)) == (
        "+1.42",
        "−0.20",
        "0.00",
    )
    assert wording.between(-0.002, 0.03) == "−0.20 to +3.00"
    assert (plain(wording.p_value(0.04567)), plain(wording.p_value(1e-5))) == ("0.046", "< 0.001")


def test_how_many_seeds():
    assert wording.seeds([3, 3]) == "n = 3"
    assert wording.seeds([5, 3]) == "n = 3 to 5"


def test_labels_for_validation_count_in_a_total():
    assert wording.total(240, validation=100) == "240 labels + 100 for validation"
    assert wording.total(1240) == "1,240 labels"
    assert wording.total(1) == "1 label"

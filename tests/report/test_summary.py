import json

import pytest
from past_runs import run

from askwise.report.past import curves, past
from askwise.report.summary import of_curves, of_run

FAST = [0.5, 0.95, 0.96, 0.97, 0.97, 0.97]
SLOW = [0.5, 0.6, 0.7, 0.96, 0.96, 0.96]


def test_a_run_has_its_curve_and_its_labels_to_the_targets():
    found = of_run(past(run(FAST)))
    assert found["labels"] == [10, 20, 30, 40, 50, 60]
    assert found["accuracy"] == FAST
    assert (found["labels_to_90"], found["labels_to_95"]) == (40, 40)
    assert (found["first_hit_90"], found["first_hit_95"]) == (20, 20)
    assert of_run(past(run([0.5, 0.6])))["labels_to_90"] is None


def test_labels_for_validation_count_in_the_totals_and_not_among_those_trained_on():
    store = run(FAST, validation=100)
    found = of_run(past(store))
    assert (found["labels"][-1], found["validation"]) == (60, 100)
    assert (found["labels_to_95"], found["first_hit_95"]) == (140, 120)
    told = of_curves(curves([past(store)]))["bald"]
    assert (told["validation"], told["labels_to_95"]["median"], told["area"]["budget"]) == (100, 140, 60)


def test_methods_are_compared_by_their_areas_with_n_and_a_verdict():
    runs = [run(FAST, seed=seed) for seed in range(3)]
    runs += [run([a - 0.01 * seed for a in SLOW], seed=seed, acquire="random") for seed in range(3)]
    found = of_curves(curves([past(store) for store in runs]))
    area = found["bald"]["area"]
    assert (found["bald"]["n"], area["budget"], area["difference"]["n"]) == (3, 60, 3)
    assert area["mean"] == pytest.approx((0.25 + 0.95 + 0.96 + 0.97 + 0.97 + 0.485) / 5)
    assert area["difference"]["verdict"] == "higher"
    assert area["difference"]["adjusted_p"] == area["difference"]["p"]  # one method: nothing to correct
    assert "difference" not in found["random"]["area"]
    alone = of_curves(curves([past(runs[0]), past(runs[3])]))["bald"]["area"]
    assert alone["why"] == "one seed: no interval"
    assert "difference" not in alone
    json.dumps(found, allow_nan=False)


def test_the_fraction_of_random_is_that_of_the_medians():
    found = of_curves(curves([past(run(FAST)), past(run(SLOW, acquire="random"))]))
    assert found["bald"]["labels_to_95"] == {
        "median": 40,
        "min": 40,
        "max": 40,
        "fraction_of_random": 40 / 60,
    }
    assert found["random"]["labels_to_95"]["fraction_of_random"] == 1


def test_what_was_never_reached_has_no_number_and_is_still_json():
    found = of_curves(curves([past(run(FAST)), past(run([0.5] * 6, acquire="random"))]))
    assert found["random"]["labels_to_95"]["median"] is None
    assert found["bald"]["labels_to_95"]["fraction_of_random"] is None
    json.dumps(found, allow_nan=False)

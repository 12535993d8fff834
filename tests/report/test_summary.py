import json

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
    assert of_run(past(run([0.5, 0.6])))["labels_to_90"] is None


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

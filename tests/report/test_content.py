import math

import pytest

from askwise.errors import InputError
from askwise.report import Calibration, Content, Curve, Spent


def test_labels_must_grow():
    with pytest.raises(InputError, match="labels of curve 'bald' must grow from round to round"):
        Curve("bald", [0], [20, 20], [[0.5, 0.5]])
    with pytest.raises(InputError, match="must grow"):
        Curve("bald", [0], [], [[]])


def test_every_seed_has_a_row():
    with pytest.raises(InputError, match="curve 'bald' has 2 seeds and 1 rows of accuracy"):
        Curve("bald", [0, 1], [20], [[0.5]])


def test_every_row_has_all_rounds():
    with pytest.raises(InputError, match="curve 'bald' has 2 rounds and a row of 1"):
        Curve("bald", [0], [20, 30], [[0.5]])


@pytest.mark.parametrize("value", [math.nan, -0.1, 94.0])
def test_accuracy_is_a_fraction(value):
    with pytest.raises(InputError, match="accuracy of curve 'bald' must lie between 0 and 1"):
        Curve("bald", [0], [20], [[value]])


def test_two_curves_of_one_name_are_refused():
    one = Curve("bald", [0], [20], [[0.5]])
    with pytest.raises(InputError, match="every curve needs its own name; found: bald, bald"):
        Content(curves=[one, one])


@pytest.mark.parametrize("matrix", [[[1]], [[1, 2], [3]], [[1, 2]]])
def test_a_confusion_matrix_fits_the_classes(matrix):
    with pytest.raises(InputError, match="the confusion matrix must be 2 x 2"):
        Content(curves=[], classes=["a", "b"], confusion=matrix)


def test_the_balance_fits_the_classes():
    with pytest.raises(InputError, match="2 classes have 3 counts of labels"):
        Content(curves=[], classes=["a", "b"], balance=[1, 2, 3])


def test_metrics_and_times_are_finite():
    with pytest.raises(InputError, match="calibration of round 3 must be finite"):
        Calibration(3, 20, ece=0.1, nll=math.inf, brier=0.1)
    with pytest.raises(InputError, match="seconds of round 3 must be finite and not negative"):
        Spent(3, {"train": -1.0})

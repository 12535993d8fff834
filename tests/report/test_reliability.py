import pytest
import torch
from torchmetrics.functional.classification import multiclass_calibration_error

from askwise.errors import InputError
from askwise.report.reliability import reliability


def predictions(count: int = 500):
    rng = torch.Generator().manual_seed(0)
    probs = torch.randn(count, 4, generator=rng).mul(2).softmax(dim=1)
    return probs, torch.randint(4, (count,), generator=rng)


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_weighted_gaps_sum_to_the_expected_calibration_error(bins):
    probs, labels = predictions()
    found = reliability(probs, labels, bins=bins)
    ours = sum(b.count * abs(b.accuracy - b.confidence) for b in found) / len(labels)
    theirs = multiclass_calibration_error(probs, labels, num_classes=4, n_bins=bins)
    assert ours == pytest.approx(float(theirs), abs=1e-5)


def test_every_item_is_in_one_bin():
    probs, labels = predictions()
    assert sum(b.count for b in reliability(probs, labels)) == len(labels)


def test_a_model_that_is_always_sure_and_right_has_one_bin_at_the_top():
    probs = torch.eye(3)
    (only,) = reliability(probs, torch.arange(3))
    assert (only.confidence, only.accuracy, only.count) == (1.0, 1.0, 3)


def test_no_prediction_is_refused():
    with pytest.raises(InputError, match="at least one prediction"):
        reliability(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))

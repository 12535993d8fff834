import torch
from torchmetrics.functional.classification import multiclass_calibration_error

from askwise.loop.measure import measure


def test_known_values():
    probs = torch.tensor([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1], [0.3, 0.7]])
    found = measure(probs, torch.tensor([0, 1, 1, 0]))
    assert found["accuracy"] == 0.5
    assert abs(found["nll"] - -torch.tensor([0.8, 0.6, 0.1, 0.3]).log().mean().item()) < 1e-6
    assert abs(found["brier"] - (2 * (0.04 + 0.16 + 0.81 + 0.49) / 4)) < 1e-6
    assert found["confusion"] == [[1, 1], [1, 1]]


def test_calibration_agrees_with_torchmetrics():
    rng = torch.Generator().manual_seed(0)
    probs = torch.randn(500, 4, generator=rng).mul(2).softmax(dim=1)
    labels = torch.randint(4, (500,), generator=rng)
    theirs = multiclass_calibration_error(probs, labels, num_classes=4, n_bins=15)
    found = measure(probs, labels)
    assert abs(found["ece"] - theirs.item()) < 1e-6
    assert sum(count for count, _, _ in found["bins"]) == 500


def test_certainty_is_measured_without_infinities():
    sure = torch.eye(3)
    right, wrong = measure(sure, torch.tensor([0, 1, 2])), measure(sure, torch.tensor([1, 2, 0]))
    assert (right["accuracy"], right["nll"], right["ece"], right["brier"]) == (1, 0, 0, 0)
    assert (wrong["accuracy"], wrong["ece"], wrong["brier"]) == (0, 1, 2)
    assert 80 < wrong["nll"] < 100

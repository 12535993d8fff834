"""Metrics of classes from mean probabilities: known values, and torchmetrics as a reference."""

from typing import Any

import torch
from torch import Tensor
from torchmetrics.functional.classification import multiclass_calibration_error

from askwise.tasks import classification


def metrics(probs: Tensor, labels: Tensor) -> dict[str, Any]:
    meter = classification().metrics()
    meter.update(probs, labels)
    return meter.compute()


def test_known_values():
    probs = torch.tensor([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1], [0.3, 0.7]])
    found = metrics(probs, torch.tensor([0, 1, 1, 0]))
    assert found["accuracy"] == 0.5
    assert abs(found["brier"] - (2 * (0.04 + 0.16 + 0.81 + 0.49) / 4)) < 1e-6
    assert found["confusion"] == [[1, 1], [1, 1]]


def test_calibration_agrees_with_torchmetrics():
    rng = torch.Generator().manual_seed(0)
    probs = torch.randn(500, 4, generator=rng).mul(2).softmax(dim=1)
    labels = torch.randint(4, (500,), generator=rng)
    theirs = multiclass_calibration_error(probs, labels, num_classes=4, n_bins=15)
    found = metrics(probs, labels)
    assert abs(found["ece"] - theirs.item()) < 1e-6
    assert sum(count for count, _, _ in found["bins"]) == 500


def test_certainty_has_exact_metrics():
    sure = torch.eye(3)
    right, wrong = metrics(sure, torch.tensor([0, 1, 2])), metrics(sure, torch.tensor([1, 2, 0]))
    assert (right["accuracy"], right["ece"], right["brier"]) == (1, 0, 0)
    assert (wrong["accuracy"], wrong["ece"], wrong["brier"]) == (0, 1, 2)

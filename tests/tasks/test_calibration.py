"""Bins of confidence."""

import pytest
import torch

from askwise.tasks.counts import bins, calibration_error


def test_a_bin_holds_its_upper_edge_and_every_item_lies_in_one() -> None:
    confidence = torch.tensor([1 / 15, 1.0, 0.0], dtype=torch.float64)
    found = bins(confidence, torch.tensor([True, True, False]))
    assert [count for count, _, _ in found] == [2, *[0] * 13, 1]


def test_the_error_is_the_distance_of_sure_and_right() -> None:
    confidence = torch.tensor([0.9, 0.9, 0.5, 0.5], dtype=torch.float64)
    found = bins(confidence, torch.tensor([True, True, True, False]))
    assert calibration_error(found) == pytest.approx(0.05)

"""Bins of confidence, and counts of what is taken for what."""

import pytest
import torch

from askwise.tasks.counts import bins, calibration_error, confusion, ious, mean_of, recalls


def test_a_bin_holds_its_upper_edge_and_every_item_lies_in_one() -> None:
    confidence = torch.tensor([1 / 15, 1.0, 0.0], dtype=torch.float64)
    found = bins(confidence, torch.tensor([True, True, False]))
    assert [count for count, _, _ in found] == [2, *[0] * 13, 1]


def test_the_error_is_the_distance_of_sure_and_right() -> None:
    confidence = torch.tensor([0.9, 0.9, 0.5, 0.5], dtype=torch.float64)
    found = bins(confidence, torch.tensor([True, True, True, False]))
    assert calibration_error(found) == pytest.approx(0.05)


COUNTS = torch.tensor([[3, 1, 0], [2, 4, 0], [0, 0, 0]])


def test_counting() -> None:
    guess, truth = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 1, 1])
    assert confusion(guess, truth, 3).tolist() == [[1, 0, 0], [1, 2, 0], [0, 0, 0]]


def test_recall_is_by_row_and_overlap_by_row_and_column() -> None:
    assert recalls(COUNTS) == [3 / 4, 4 / 6, None]
    assert ious(COUNTS) == [3 / 6, 4 / 7, None]


def test_a_class_that_is_guessed_and_never_true_has_no_recall_and_no_overlap() -> None:
    counts = torch.tensor([[1, 1], [0, 0]])
    assert recalls(counts) == [0.5, None]
    assert ious(counts) == [0.5, 0]


def test_the_mean_is_over_what_is_known() -> None:
    assert mean_of([0.5, None, 1.0]) == 0.75
    assert mean_of([None]) is None

"""Counts of what is taken for what."""

import torch

from askwise.tasks import confusion

COUNTS = torch.tensor([[3, 1, 0], [2, 4, 0], [0, 0, 0]])


def test_counting() -> None:
    guess, truth = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 1, 1])
    assert confusion.count(guess, truth, 3).tolist() == [[1, 0, 0], [1, 2, 0], [0, 0, 0]]


def test_recall_is_by_row_and_overlap_by_row_and_column() -> None:
    assert confusion.recall(COUNTS) == [3 / 4, 4 / 6, None]
    assert confusion.overlap(COUNTS) == [3 / 6, 4 / 7, None]


def test_a_class_that_is_guessed_and_never_true_has_no_recall_and_no_overlap() -> None:
    counts = torch.tensor([[1, 1], [0, 0]])
    assert confusion.recall(counts) == [0.5, None]
    assert confusion.overlap(counts) == [0.5, 0]


def test_the_mean_is_over_what_is_known() -> None:
    assert confusion.mean([0.5, None, 1.0]) == 0.75
    assert confusion.mean([None]) is None

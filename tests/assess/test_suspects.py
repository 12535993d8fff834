"""Suspects: the widest gap first, and none where the label is the likeliest."""

import pytest
import torch

from askwise.assess import folds, suspects
from askwise.errors import InputError

PROBS = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.05, 0.05, 0.9], [0.4, 0.35, 0.25]])
LABELS = torch.tensor([0, 0, 1, 1])


def test_the_label_that_another_class_beats_most_comes_first():
    found = suspects((PROBS + 1e-9).log(), LABELS)
    assert found.positions.tolist() == [2, 1, 3]
    assert found.likelier.tolist() == [2, 1, 0]
    assert found.given_probability.tolist() == pytest.approx([0.05, 0.2, 0.35], abs=1e-6)
    assert found.likelier_probability.tolist() == pytest.approx([0.9, 0.5, 0.4], abs=1e-6)


def test_at_most_count_are_given_and_none_where_all_labels_are_likeliest():
    assert suspects((PROBS + 1e-9).log(), LABELS, count=1).positions.tolist() == [2]
    assert not len(suspects((PROBS + 1e-9).log(), PROBS.argmax(dim=1)).positions)


def test_ties_follow_the_ids_not_the_positions():
    probs = torch.tensor([[0.2, 0.8]] * 6).log()
    labels, ids = torch.zeros(6, dtype=torch.int64), [f"item {i}" for i in range(6)]
    first = [ids[i] for i in suspects(probs, labels, ids=ids).positions]
    turned = suspects(probs, labels, ids=ids[::-1]).positions
    assert [ids[::-1][i] for i in turned] == first


def test_folds_are_of_equal_size_and_follow_the_ids():
    fold = folds(range(23), count=5, seed=1)
    assert sorted(fold.bincount().tolist()) == [4, 4, 5, 5, 5]
    assert torch.equal(fold, folds(range(23), count=5, seed=1))
    assert not torch.equal(fold, folds(range(23), count=5, seed=2))
    order = torch.randperm(23)
    assert torch.equal(folds(order.tolist(), count=5, seed=1), fold[order])


def test_what_cannot_be_used_is_refused_in_one_line():
    with pytest.raises(InputError, match="there must be at least 2 classes, not 1"):
        suspects(torch.zeros(3, 1), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(InputError, match="log_probs contains NaN"):
        suspects(torch.full((3, 2), torch.nan), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(InputError, match="labels must be numbers of classes from 0 to 2, and go from 1 to 4"):
        suspects((PROBS + 1e-9).log(), LABELS + torch.tensor([1, 1, 1, 3]))
    with pytest.raises(InputError, match="count must be between 2 and the number of labels, 3, not 5"):
        folds(range(3))

"""Dawid and Skene: one step by hand, annotators recovered, and a spammer who is seen."""

import pytest
import torch

from askwise.assess import dawid_skene
from askwise.errors import InputError
from askwise.seeding import generator


def answered(accuracies, items=400, classes=3, seed=0):
    """Answers of annotators with these accuracies to every item, and the truth."""
    rng = generator(seed, "dawid-skene")
    truth = torch.randint(classes, (items,), generator=rng)
    triples = []
    for who, accuracy in enumerate(accuracies):
        errs = torch.rand(items, generator=rng) > accuracy
        other = (truth + torch.randint(1, classes, (items,), generator=rng)) % classes
        given = torch.where(errs, other, truth)
        triples += [(item, who, int(label)) for item, label in enumerate(given)]
    return [list(column) for column in zip(*triples, strict=True)], truth


def test_accuracies_and_truth_are_recovered_within_sampling():
    (items, who, labels), truth = answered((0.95, 0.8, 0.6))
    found = dawid_skene(items, who, labels, classes=3)
    assert found.accuracy.tolist() == pytest.approx([0.95, 0.8, 0.6], abs=0.06)
    assert (found.truth.argmax(dim=1) == truth).double().mean() > 0.95


def test_five_poor_annotators_and_one_good_one_beat_the_majority():
    (items, who, labels), truth = answered((0.97, 0.45, 0.45, 0.45, 0.45, 0.45))
    found = dawid_skene(items, who, labels, classes=3)
    votes = torch.nn.functional.one_hot(torch.tensor(labels).view(6, -1), 3).sum(dim=0)
    right = (found.truth.argmax(dim=1) == truth).double().mean()
    assert right > (votes.argmax(dim=1) == truth).double().mean() + 0.05


def test_who_always_says_the_same_has_a_confusion_of_one_column():
    (items, who, labels), _ = answered((0.9, 0.9))
    found = dawid_skene([*items, *range(400)], [*who, *[2] * 400], [*labels, *[1] * 400], classes=3)
    assert (found.confusion[2, :, 1] > 0.95).all()
    assert found.accuracy[2] == pytest.approx(float(found.share[1]), abs=0.02)


def test_one_step_of_em_is_the_one_that_loops_count():
    items, who, labels = [0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [0, 0, 0, 1, 1]
    found = dawid_skene(items, who, labels, classes=2, steps=1)
    start = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    share = [(sum(t[k] for t in start) + 1) / 5 for k in range(2)]
    count = [[[0.5 + (k == j) for j in range(2)] for k in range(2)] for _ in range(2)]
    for item, a, label in zip(items, who, labels, strict=True):
        for k in range(2):
            count[a][k][label] += start[item][k]
    chance = [[[one / sum(row) for one in row] for row in table] for table in count]
    for item in range(3):
        told = [share[0], share[1]]
        for at, a, label in zip(items, who, labels, strict=True):
            if at == item:
                told = [told[k] * chance[a][k][label] for k in range(2)]
        assert found.truth[item].tolist() == pytest.approx([one / sum(told) for one in told])


def test_rows_are_distributions_and_items_without_answers_follow_the_shares():
    found = dawid_skene([0, 0, 5, 5], [0, 1, 0, 1], [0, 0, 1, 1], classes=2)
    torch.testing.assert_close(found.truth.sum(dim=1), torch.ones(6, dtype=torch.float64))
    torch.testing.assert_close(found.confusion.sum(dim=2), torch.ones(2, 2, dtype=torch.float64))
    torch.testing.assert_close(found.truth[3], found.share)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "there are no answers"),
        (([0, 1], [0, 0], [0, 1]), "no item has two answers"),
        (([0, 0], [0, 1], [0, 4]), "labels must be numbers of classes from 0 to 1, and go from 0 to 4"),
        (([0, 0], [0, 1], [0]), "the inputs differ in length"),
        (([0, 0], [0, -1], [0, 0]), "items and annotators are numbered from 0"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(arguments, message):
    with pytest.raises(InputError, match=message):
        dawid_skene(*arguments, classes=2)

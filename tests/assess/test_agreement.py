"""Agreement beyond chance: equal to scikit-learn, to published examples and to loops over pairs."""

import itertools

import pytest
import torch
from sklearn.metrics import cohen_kappa_score

from askwise.assess import cohen, fleiss, krippendorff
from askwise.errors import InputError
from askwise.seeding import generator

# Fleiss (1971) as Wikipedia has it: 10 items, 14 raters, 5 classes; kappa .210.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def krippendorff_example():
    """Three coders and 15 items, * where there is no answer (Krippendorff; nominal alpha .691)."""
    rows = ["* * * * * 3 4 1 2 1 1 3 3 * 3", "1 * 2 1 3 3 4 3 * * * * * * *", "* * 2 1 3 4 4 * 2 1 1 3 3 * 4"]
    return [(i, int(one) - 1) for row in rows for i, one in enumerate(row.split()) if one != "*"]


@pytest.mark.parametrize("seed", range(5))
def test_cohens_kappa_is_that_of_scikit_learn(seed):
    rng = generator(seed, "cohen")
    first = torch.randint(4, (60,), generator=rng)
    second = torch.where(torch.rand(60, generator=rng) < 0.5, first, torch.randint(4, (60,), generator=rng))
    assert cohen(first, second, classes=4) == pytest.approx(cohen_kappa_score(first, second))


def test_fleiss_kappa_is_the_published_one():
    assert fleiss(torch.tensor(FLEISS)) == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_alpha_is_the_published_one():
    items, labels = zip(*krippendorff_example(), strict=True)
    assert krippendorff(items, labels, classes=4) == pytest.approx(0.691, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_krippendorffs_alpha_is_one_minus_observed_by_expected_disagreement_of_all_pairs(seed):
    rng = generator(seed, "krippendorff")
    answers = [
        (int(torch.randint(8, (), generator=rng)), int(torch.randint(3, (), generator=rng)))
        for _ in range(30)
    ]
    by_item: dict[int, list[int]] = {}
    for item, label in answers:
        by_item.setdefault(item, []).append(label)
    kept = [labels for labels in by_item.values() if len(labels) > 1]
    total = sum(map(len, kept))
    seen = (
        sum(sum(a != b for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1) for labels in kept)
        / total
    )
    every = [label for labels in kept for label in labels]
    expected = sum(a != b for a, b in itertools.permutations(every, 2)) / (total * (total - 1))
    items, labels = zip(*answers, strict=True)
    assert krippendorff(items, labels, classes=3) == pytest.approx(1 - seen / expected)


def test_perfect_agreement_is_one_and_none_beyond_chance_is_zero():
    same = torch.tensor([0, 1, 2, 0])
    assert cohen(same, same, classes=3) == 1
    assert fleiss(torch.tensor([[3, 0], [0, 3]])) == 1
    assert krippendorff([0, 0, 1, 1], [0, 0, 1, 1], classes=2) == 1
    assert cohen(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1]), classes=2) == 0


def test_what_cannot_be_used_is_refused_in_one_line():
    zero = torch.zeros(3, dtype=torch.int64)
    with pytest.raises(InputError, match="all answers are of one class"):
        cohen(zero, zero, classes=2)
    with pytest.raises(InputError, match="all answers are of one class"):
        krippendorff([0, 0], [1, 1], classes=2)
    with pytest.raises(InputError, match="needs equally many answers for every item, at least 2"):
        fleiss(torch.tensor([[2, 1], [1, 1]]))
    with pytest.raises(InputError, match="agreement needs items with two answers, and there are none"):
        krippendorff([0, 1], [0, 1], classes=2)
    with pytest.raises(InputError, match="at least 2 classes, not 1"):
        cohen(zero, zero, classes=1)

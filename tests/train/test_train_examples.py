"""Examples: labels that can be learned from, and the order they come in."""

from dataclasses import replace

import pytest
import torch
from torch.utils.data import Dataset

from askwise.errors import InputError
from askwise.train import examples


class Pairs(Dataset):
    def __init__(self, labels) -> None:
        self._labels = labels

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, at: int):
        return torch.zeros(3), self._labels[at]


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (["cat", "dog"], "labels must be numbers, not <U3"),
        ([None, None], "labels must be numbers, not object"),
        ([[1, 2], [1]], "rows differ in length|one shape"),
    ],
)
def test_labels_that_are_no_numbers_are_refused_from_arrays_and_datasets(labels, match: str) -> None:
    for data in ((torch.zeros(2, 3), labels), Pairs(labels)):
        with pytest.raises(InputError, match=match):
            examples(data)


def test_masks_of_two_sizes_are_refused_by_position() -> None:
    with pytest.raises(InputError, match=r"first is \[2, 2\] and the one at position 1 is \[3, 2\]"):
        examples(Pairs([torch.zeros(2, 2), torch.zeros(3, 2)]))


def test_a_dataset_without_items_is_refused() -> None:
    with pytest.raises(InputError, match="no labelled examples"):
        examples(Pairs([]))


def test_an_epoch_is_every_example_once_or_a_draw_by_chance() -> None:
    data, rng = examples((torch.zeros(6, 1), torch.arange(6))), torch.Generator().manual_seed(0)
    assert sorted(data.order(rng).tolist()) == list(range(6))
    drawn = replace(data, chances=torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0, 0.0]))
    seen = torch.cat([drawn.order(rng) for _ in range(100)])
    assert set(seen.tolist()) == {1, 4}
    assert 200 < int((seen == 1).sum()) < 400


def test_some_of_the_examples_keep_their_names() -> None:
    x = torch.arange(12.0).view(4, 3)
    for data in (examples((x, torch.arange(4))), examples(Pairs([0, 1, 2, 3]))):
        some = data.only(torch.tensor([3, 1]))
        assert some.labels.tolist() == [3, 1]
        assert some.name(0) == "position 3"
        assert len(some.batch(torch.tensor([0, 1]))[0]) == len(some) == 2
    assert torch.equal(examples((x, torch.arange(4))).only(torch.tensor([3])).first, x[3:])
    assert examples((x, torch.arange(4)), ids=list("abcd")).only(torch.tensor([2])).name(0) == "c"

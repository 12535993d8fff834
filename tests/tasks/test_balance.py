"""Balance: every class weighs the same in all, and is drawn as often as any other."""

import torch

from askwise.tasks import categorical


def test_every_seen_class_weighs_the_same_in_all_and_an_example_one_on_average() -> None:
    counts = torch.tensor([10.0, 0.0, 2.0, 1.0])
    weights = categorical.weights_of(counts)
    assert weights[1] == 0  # a class that was never seen divides nothing by zero
    shares = (weights * counts)[[0, 2, 3]]
    torch.testing.assert_close(shares, shares[:1].expand(3))
    assert float((weights * counts).sum() / counts.sum()) == 1


def test_even_classes_all_weigh_one() -> None:
    assert categorical.weights_of(torch.full((4,), 7.0)).tolist() == [1, 1, 1, 1]


def test_counts_leave_out_what_is_ignored() -> None:
    labels = torch.tensor([[0, 2, 255], [2, 2, 0]], dtype=torch.uint8)
    assert categorical.class_counts(labels, 4, ignore=255).tolist() == [2, 0, 3, 0]


def test_chances_make_classes_equally_likely() -> None:
    labels = torch.tensor([0] * 90 + [1] * 9 + [3])
    chances = categorical.chances_of_classes(labels, ignore=None)
    share = torch.zeros(4).index_add_(0, labels, chances) / chances.sum()
    torch.testing.assert_close(share, torch.tensor([1 / 3, 1 / 3, 0, 1 / 3]))


def test_an_item_is_drawn_for_its_rarest_tag_and_having_none_is_a_tag() -> None:
    present = torch.tensor([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]).bool()
    assert (
        categorical.chances_of_tags(present).tolist()
        == torch.tensor([1, 1 / 3, 1 / 3, 1 / 2, 1 / 2]).tolist()
    )

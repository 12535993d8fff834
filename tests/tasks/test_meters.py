"""Meters agree with torchmetrics and with counting by hand, whole or batch by batch."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torchmetrics.functional import classification as theirs

from askwise.tasks.meters import ClassMeter, NumberMeter, PixelMeter, TagMeter

RNG = torch.Generator().manual_seed(0)
PROBS = torch.randn(200, 4, generator=RNG).softmax(dim=1)
LABELS = torch.randint(4, (200,), generator=RNG)
TAGS = torch.rand(50, 7, generator=RNG)
TRUE = (torch.rand(50, 7, generator=RNG) < 0.3).float()
PIXELS = torch.randn(6, 5, 4, 3, generator=RNG).softmax(dim=-1)
MASKS = torch.randint(3, (6, 5, 4), generator=RNG)


def measured(meter: Any, mean: Tensor, labels: Tensor, *, batch: int = 1000) -> dict[str, Any]:
    for start in range(0, len(mean), batch):
        meter.update(mean[start : start + batch], labels[start : start + batch])
    return meter.compute()


def both(tags: Tensor) -> Tensor:
    """Probabilities of off and on."""
    return torch.stack([1 - tags, tags], dim=-1)


def numbers(found: Any) -> list[float]:
    """A measure as a flat list; None is -1."""
    if isinstance(found, list):
        return [number for part in found for number in numbers(part)]
    return [-1.0 if found is None else found]


@pytest.mark.parametrize(
    ("make", "mean", "labels"),
    [
        (ClassMeter, PROBS, LABELS),
        (lambda: TagMeter(threshold=0.4), both(TAGS), TRUE),
        (NumberMeter, PROBS, PROBS.flip(0)),
        (lambda: PixelMeter(ignore=2), PIXELS, MASKS),
    ],
    ids=["classes", "tags", "numbers", "pixels"],
)
def test_batches_measure_the_same_as_the_whole(make, mean, labels) -> None:
    whole, parts = measured(make(), mean, labels), measured(make(), mean, labels, batch=3)
    assert whole.keys() == parts.keys()
    for name in whole:
        assert numbers(parts[name]) == pytest.approx(numbers(whole[name])), name


def test_classes_agree_with_torchmetrics() -> None:
    found = measured(ClassMeter(), PROBS, LABELS)
    assert found["accuracy"] == pytest.approx(
        theirs.multiclass_accuracy(PROBS, LABELS, 4, average="micro").item()
    )
    recall = theirs.multiclass_recall(PROBS, LABELS, 4, average="none")
    assert found["recall"] == pytest.approx(recall.tolist())
    assert found["confusion"] == theirs.multiclass_confusion_matrix(PROBS, LABELS, 4).tolist()
    error = theirs.multiclass_calibration_error(PROBS, LABELS, 4, n_bins=15)
    assert found["ece"] == pytest.approx(error.item(), abs=1e-6)


def test_a_class_without_items_has_no_recall() -> None:
    assert measured(ClassMeter(), PROBS[:3], torch.tensor([0, 0, 2]))["recall"][1] is None


def test_soft_labels_count_as_their_likeliest_class_and_brier_sees_them_whole() -> None:
    soft = torch.tensor([[0.6, 0.4], [0.1, 0.9]])
    mean = torch.tensor([[0.6, 0.4], [0.7, 0.3]])
    found = measured(ClassMeter(), mean, soft)
    assert found["accuracy"] == 0.5
    assert found["brier"] == pytest.approx((0 + 2 * 0.36) / 2)


def test_ignored_items_are_not_measured() -> None:
    mixed = LABELS.clone()
    mixed[::2] = -1
    assert measured(ClassMeter(ignore=-1), PROBS, mixed) == measured(ClassMeter(), PROBS[1::2], LABELS[1::2])


def test_ranks_of_tags_by_hand() -> None:
    tags = torch.tensor([[0.9, 0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.9, 0.8, 0.7, 0.6, 0.5], [0.5] * 6])
    true = torch.tensor([[1.0, 1, 0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0], [0.0] * 6])
    found = measured(TagMeter(threshold=0.5), both(tags), true)
    assert (found["top_1"], found["top_5"]) == (0.5, 0.5)  # of the two items that have a true tag
    true[1, 5] = 1
    assert measured(TagMeter(threshold=0.5), both(tags), true)["top_5"] == 1


def test_tags_agree_with_torchmetrics() -> None:
    found = measured(TagMeter(threshold=0.4), both(TAGS), TRUE)
    whole = TRUE.long()
    for name, function, average in (
        ("recall_micro", theirs.multilabel_recall, "micro"),
        ("f1_micro", theirs.multilabel_f1_score, "micro"),
        ("f1_macro", theirs.multilabel_f1_score, "macro"),
    ):
        expected = function(TAGS, whole, 7, threshold=0.4, average=average).item()
        assert found[name] == pytest.approx(expected)
    hits = ((TAGS > 0.4) & (TRUE == 1)).sum(dim=0) / TRUE.sum(dim=0)
    assert found["recall"] == pytest.approx(hits.tolist())


def test_unknown_tags_take_no_part() -> None:
    true = TRUE.clone()
    true[:, 3] = -1
    rest = [0, 1, 2, 4, 5, 6]
    found = measured(TagMeter(threshold=0.5), both(TAGS), true)
    without = measured(TagMeter(threshold=0.5), both(TAGS[:, rest]), TRUE[:, rest])
    assert found["recall"].pop(3) is None
    assert found["recall"] == without["recall"]
    for name in ("top_1", "top_5", "recall_micro", "f1_micro"):
        assert found[name] == pytest.approx(without[name])


def test_a_probability_rounded_above_one_is_still_one() -> None:
    tags = torch.tensor([[1.0000001, 0.1]])
    found = measured(TagMeter(threshold=0.5), both(tags), torch.tensor([[1.0, 0.0]]))
    assert found["f1_micro"] == 1  # and not the sigmoid of it all


def test_the_root_of_the_mean_squared_error_is_over_all_numbers() -> None:
    found = measured(NumberMeter(), torch.tensor([[0.0], [4.0]]), torch.tensor([3.0, 0.0]))
    assert found == {"rmse": math.sqrt(12.5)}


def test_pixels_agree_with_torchmetrics() -> None:
    guess = PIXELS.argmax(dim=-1)
    masks = MASKS.clone()
    masks[:, 0] = 255
    found = measured(PixelMeter(ignore=255), PIXELS, masks.to(torch.uint8))
    options = {"num_classes": 3, "ignore_index": 255}
    iou = theirs.multiclass_jaccard_index(guess, masks, average="macro", **options)
    accuracy = theirs.multiclass_accuracy(guess, masks, average="macro", **options)
    assert found["mean_iou"] == pytest.approx(iou.item())
    assert found["class_accuracy"] == pytest.approx(accuracy.item())
    assert found["accuracy"] == pytest.approx((guess == masks)[:, 1:].float().mean().item())


def test_a_class_that_no_pixel_has_does_not_count() -> None:
    masks = torch.zeros(1, 2, 2, dtype=torch.long)
    sure = torch.nn.functional.one_hot(masks, 3).float()
    found = measured(PixelMeter(ignore=None), sure, masks)
    assert (found["mean_iou"], found["class_accuracy"]) == (1, 1)
    assert found["iou"] == [1, None, None]

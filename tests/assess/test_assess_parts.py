"""Bands of parts: each with its share of alpha, so that all hold together."""

import math

import pytest
import torch

from askwise.assess import band, recalls, tags
from askwise.errors import InputError
from askwise.seeding import generator


def test_the_recall_of_a_class_is_the_band_of_its_items_at_its_share_of_alpha():
    labels, predicted = torch.tensor([0] * 20 + [1] * 15), torch.tensor([0] * 18 + [1] * 17)
    found = recalls(labels, predicted, classes=2)
    alone = band(torch.arange(20) >= 18, alpha=0.025)
    assert (found.classes[0].low, found.classes[0].high) == (alone.low, alone.high)
    assert found.classes[1].share == 1
    assert found.balanced.low == pytest.approx((found.classes[0].low + found.classes[1].low) / 2)
    assert found.balanced.high == pytest.approx((found.classes[0].high + found.classes[1].high) / 2)
    assert found.balanced.share == pytest.approx(0.95)
    assert found.balanced.alpha == pytest.approx(0.05)


def test_a_class_with_few_answers_has_no_band_and_leaves_balanced_accuracy_wide():
    found = recalls(torch.tensor([0] * 40), torch.tensor([0] * 40), classes=2)
    assert found.classes[1] is None
    assert found.balanced.high == 1
    assert found.balanced.low < 0.5


def test_a_skipped_item_may_be_a_wrong_one_of_any_class():
    labels = torch.tensor([0] * 20 + [1] * 20)
    found = recalls(labels, labels, classes=2, skipped=2)
    alone = band(torch.arange(22) >= 20, alpha=0.025)
    assert found.classes[0].low == found.classes[1].low == alone.low
    assert found.classes[0].high == 1
    assert found.classes[0].answers == 20


def test_classes_that_are_gone_take_no_share_of_alpha():
    labels = torch.tensor([0] * 20 + [2] * 20)
    found, alone = (
        recalls(labels, labels, classes=4, gone={1, 3}),
        recalls(labels // 2, labels // 2, classes=2),
    )
    assert found.balanced == alone.balanced
    assert found.classes == (alone.classes[0], None, alone.classes[1], None)
    with pytest.raises(InputError, match="labels name class 2, which is gone"):
        recalls(labels, labels, classes=4, gone={2})
    with pytest.raises(InputError, match="at least 2 classes, not 1"):
        recalls(labels, labels, classes=2, gone={0})


def test_of_skipped_items_alone_no_share_is_told():
    none = torch.zeros(0, dtype=torch.int64)
    assert math.isnan(recalls(none, none, classes=2, skipped=12).balanced.share)


def test_a_stop_rule_gets_the_stricter_constant():
    labels = torch.tensor([0] * 20 + [1] * 20)
    assert recalls(labels, labels, classes=2, stopping=True).balanced.alpha == pytest.approx(0.05 / 8)


def test_tags_share_alpha():
    rng = generator(0, "tags")
    region = torch.rand(100, 3, generator=rng)
    wrong = torch.rand(30, 3, generator=rng) < region[:30]
    found = tags(wrong, region[:30], region)
    assert found == tuple(band(wrong[:, i], region[:30, i], region[:, i], alpha=0.05 / 3) for i in range(3))


def test_one_class_and_few_answers_are_refused():
    labels = torch.zeros(20, dtype=torch.int64)
    with pytest.raises(InputError, match="there must be at least 2 classes, not 1"):
        recalls(labels, labels, classes=1)
    with pytest.raises(InputError, match="a band needs at least 10 test answers, and there are 4"):
        recalls(labels[:4], labels[:4], classes=2)
    with pytest.raises(InputError, match="labels must be numbers of classes from 0 to 1, and go from 5 to 5"):
        recalls(labels + 5, labels, classes=2)

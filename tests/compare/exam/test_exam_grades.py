import math
from dataclasses import replace

import pytest
import torch
from tiny_head import head, weights

from askwise.compare.exam.answer import answer
from askwise.compare.exam.grades import covariance_error, divergence, grade, in_common, rank_correlation

PERFECT = {
    "std_5": 1, "std": 1, "std_95": 1, "mean_field": 1, "covariance": 0, "nll_gap": 0, "kl": 0,
    "bald": 1, "epistemic": 1, "top_10": 10, "top_50": 50,
}  # fmt: skip


@pytest.mark.parametrize("classes", [3, 1])
def test_gold_against_itself_is_perfect(classes: int) -> None:
    gold = answer(head(classes=classes), weights(classes=classes))
    assert grade(gold, gold, mean_field_std=gold.std) == pytest.approx(PERFECT, abs=1e-12)


@pytest.mark.parametrize("classes", [3, 1])
def test_gold_with_its_weights_in_another_order_is_not(classes: int) -> None:
    gold = answer(head(classes=classes), weights(classes=classes))
    shuffled = answer(head(classes=classes), weights(classes=classes).flip(1, 2))
    found = grade(shuffled, gold, mean_field_std=gold.std)
    assert found["covariance"] > 0.3
    assert found["std_5"] < 0.8 < 1.25 < found["std_95"]
    assert found["kl"] > 0.01
    assert found["bald"] < 0.99
    assert found["epistemic"] < 0.99


def test_a_shuffled_pool_is_not_ordered_as_gold_orders_it() -> None:
    gold = answer(head(), weights())
    order = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    found = grade(
        replace(gold, bald=gold.bald[order], epistemic=gold.epistemic[order]), gold, mean_field_std=gold.std
    )
    assert abs(found["bald"]) < 0.3
    assert abs(found["epistemic"]) < 0.3
    assert found["top_10"] <= 5
    assert found["std"] == 1


def test_twice_the_width_is_a_ratio_of_two_and_a_relative_error_of_three() -> None:
    gold = answer(head(), weights())
    mean = weights().mean(dim=0)
    wide = answer(head(), mean + 2 * (weights() - mean))
    found = grade(wide, gold, mean_field_std=gold.std / 2)
    assert [found[key] for key in ("std_5", "std", "std_95", "mean_field")] == pytest.approx([2, 2, 2, 4])
    assert found["covariance"] == pytest.approx(3)


def test_one_set_of_weights_orders_nothing_and_has_no_width() -> None:
    gold = answer(head(), weights())
    found = grade(answer(head(), weights(1), finite=True), gold, mean_field_std=gold.std)
    assert found["std_95"] == 0
    assert found["covariance"] == pytest.approx(1)
    assert [found[key] for key in ("bald", "epistemic", "top_10", "top_50")] == [None] * 4


def test_sampling_noise_is_no_error_of_the_covariance() -> None:
    rng = torch.Generator().manual_seed(0)
    draws = torch.randn(2, 400, 90, generator=rng, dtype=torch.float64)
    wide = head(classes=30)
    one, other = (answer(wide, part.view(-1, 30, 3)) for part in draws)
    plain = (one.covariances.mean(0) - torch.eye(90)).norm() / torch.eye(90).norm()
    assert plain > 0.4  # the control: what the square of one error would say
    assert covariance_error(one, other) < 0.15


def test_spearman_of_known_orders() -> None:
    def of(one, other):
        return rank_correlation(torch.tensor(one).double(), torch.tensor(other).double())

    assert of([1, 2, 3], [10, 20, 1000]) == pytest.approx(1)
    assert of([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert of([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    assert of([1, 1, 2], [1, 2, 3]) == pytest.approx(math.sqrt(3) / 2)
    assert of([1, 1, 1], [1, 2, 3]) is None


def test_picks_in_common_are_counted() -> None:
    scores = torch.arange(6).double()
    assert in_common(scores, scores, 2) == 2
    assert in_common(scores, -scores, 2) == 0
    assert in_common(scores, -scores, 4) == 2
    assert in_common(scores, torch.ones(6).double(), 2) is None


def test_divergence_of_known_predictions() -> None:
    gold, found = torch.tensor([[0.5, 0.5, 0.0]]).double(), torch.tensor([[0.25, 0.5, 0.25]]).double()
    assert divergence(gold, found) == pytest.approx(0.5 * math.log(2))
    one, other = torch.tensor([[1.0, 4.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    assert divergence(one, other) == pytest.approx((4 + 1 - 1 - math.log(4)) / 2)

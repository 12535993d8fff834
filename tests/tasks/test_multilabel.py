"""Tags: each off or on, some unknown; an item's score does not depend on how many there are."""

import math

import pytest
import torch
from torch.nn import functional as F

import askwise as aw
from askwise.acquire import bald, margin, top_u
from askwise.errors import InputError
from askwise.tasks import multilabel

LABELS = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])


def test_a_logit_is_the_log_odds_of_a_tag() -> None:
    outputs = torch.randn(5, 4, 3)
    found = multilabel().predictive(outputs)
    assert found.shape == (5, 4, 3, 2)
    torch.testing.assert_close(found[..., 1].exp(), outputs.sigmoid())
    torch.testing.assert_close(found[..., 1] - found[..., 0], outputs)
    assert multilabel().predictive(torch.full((1, 1, 1), 200.0)).isfinite().all()


def test_the_tags_of_an_item_add_up_in_its_likelihood() -> None:
    outputs = torch.randn(2, 3)
    each = F.binary_cross_entropy_with_logits(outputs, LABELS, reduction="none")
    torch.testing.assert_close(multilabel().nll(outputs, LABELS), each.sum(dim=1).mean())


def test_unknown_tags_add_nothing() -> None:
    task, outputs = multilabel(), torch.randn(2, 3, requires_grad=True)
    labels = LABELS.clone()
    labels[0, 1] = -1
    (slope,) = torch.autograd.grad(task.nll(outputs, labels), outputs)
    assert (slope == 0).nonzero().tolist() == [[0, 1]]
    likely = task.log_likelihood(task.predictive(outputs.detach()[:, None]), labels)
    assert likely.isnan().nonzero().tolist() == [[0, 1]]
    torch.testing.assert_close(-likely.nansum() / 2, task.nll(outputs, labels).detach())


def test_the_log_likelihood_is_of_the_mean_over_draws() -> None:
    task = multilabel()
    found = task.predictive(torch.randn(2, 7, 3))
    p = found[..., 1].exp().mean(dim=1)
    expected = torch.where(LABELS == 1, p, 1 - p).log()
    torch.testing.assert_close(task.log_likelihood(found, LABELS), expected)


def test_soft_tags_are_judged_by_what_is_expected_under_them() -> None:
    task, outputs = multilabel(), torch.randn(2, 3)
    soft = torch.tensor([[0.2, 0.5, 1.0], [0.0, 0.9, 0.1]])
    torch.testing.assert_close(task.nll(outputs, soft), F.binary_cross_entropy_with_logits(outputs, soft) * 3)
    likely = task.log_likelihood(task.predictive(outputs[:, None]), soft)
    torch.testing.assert_close(-likely.sum(dim=1).mean(), task.nll(outputs, soft))


def test_the_curvature_is_the_second_derivative() -> None:
    outputs = torch.randn(1, 3, dtype=torch.float64)
    hessian = torch.autograd.functional.hessian(lambda o: multilabel().nll(o, LABELS[:1]), outputs)
    d, u = multilabel().curvature(outputs)
    torch.testing.assert_close(torch.diag(d[0]), hessian[0, :, 0])
    assert not u.any()


def test_a_score_does_not_grow_with_the_number_of_tags_unless_asked() -> None:
    found = multilabel().predictive(torch.randn(4, 6, 3))
    twice = torch.cat([found, found], dim=2)
    for reduce, growth in (("mean", 1), ("max", 1), ("sum", 2)):
        per_item = multilabel(reduce=reduce).per_item
        torch.testing.assert_close(per_item(bald(twice)), growth * per_item(bald(found)))


def test_reductions_are_what_they_are_called() -> None:
    scores = torch.tensor([[1.0, 2.0, 6.0]])
    assert [multilabel(reduce=r).per_item(scores).item() for r in ("mean", "sum", "max")] == [3, 9, 6]
    with pytest.raises(InputError, match="unknown reduce 'top'; choose one of: mean, sum, max"):
        multilabel(reduce="top")


def test_ranking_scores_look_across_the_tags_and_stay_as_they_are() -> None:
    rng = torch.Generator().manual_seed(0)
    x, y = torch.randn(40, 6, generator=rng), (torch.rand(40, 5, generator=rng) < 0.4).long()
    fitted = aw.fit(
        aw.nets.mlp(6, 5, hidden=(8,)), (x, y), task=multilabel(reduce="sum"), training=aw.Training(epochs=2)
    )
    found = aw.log_probs(fitted, x, draws=9)
    close = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(
        aw.score_pool(fitted, x, "margin", draws=9), margin(found, across_tags=True), **close
    )
    torch.testing.assert_close(
        aw.score_pool(fitted, x, "top_u", draws=9, u=4), top_u(found, u=4, across_tags=True), **close
    )
    per_tag = aw.score_pool(fitted, x, "margin", draws=9, across_tags=False)
    torch.testing.assert_close(per_tag, margin(found).sum(dim=1), **close)
    torch.testing.assert_close(aw.score_pool(fitted, x, "bald", draws=9), bald(found).sum(dim=1), **close)


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS.long(), LABELS.bool(), LABELS.double(), LABELS.to(torch.uint8)],
    ids=lambda labels: str(labels.dtype),
)
def test_tags_are_taken_in_any_type(labels: torch.Tensor) -> None:
    assert torch.equal(multilabel().labels(labels, (3,)), LABELS)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (torch.tensor([0, 1]), r"0 or 1 for each tag \[N, 3\], not \[2\]"),
        (LABELS[:, :2], "labels have 2 tags, and the network gives 3"),
        (LABELS * 3, "tag 1 of the item at position 0 is 3; a tag is 0 or 1"),
        (LABELS.long() - 2, "tag 0 of the item at position 0 is -2"),
        (LABELS - 0.5, "tag 0 of the item at position 0 is -0.5"),
        (LABELS.masked_fill(LABELS == 1, torch.nan), "tag 1 of the item at position 0 is nan"),
    ],
)
def test_labels_that_are_no_tags_are_refused_in_one_line(labels: torch.Tensor, match: str) -> None:
    with pytest.raises(InputError, match=match) as refused:
        multilabel().labels(labels, (3,))
    assert "\n" not in str(refused.value)


def test_a_present_tag_weighs_as_much_as_it_is_rare() -> None:
    labels = torch.tensor([[1.0, 0, 1, 0], [0, 0, 1, -1], [0, 0, 1, 1], [0, 0, 1, 0]])
    weights = multilabel().class_weights(labels, (4,))
    assert weights.tolist() == [3, 0, 1, 2]  # never present: 0; never absent: as it is
    outputs = torch.randn(4, 4)
    plain = F.binary_cross_entropy_with_logits(outputs, labels.clamp(min=0), reduction="none")
    expected = torch.where(labels == 1, weights * plain, plain).masked_fill(labels == -1, 0)
    torch.testing.assert_close(multilabel().nll(outputs, labels, weights), expected.sum(dim=1).mean())


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, math.nan])
def test_a_threshold_lies_between_zero_and_one(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold must be between 0 and 1"):
        multilabel(threshold=threshold)


def test_tags_are_learned() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(300, 6, generator=rng)
    y = (x[:, :4] + 0.1 * torch.randn(300, 4, generator=rng) > 0.5).long()
    fitted = aw.fit(
        aw.nets.mlp(6, 4, hidden=(32,)), (x[:200], y[:200]), task="multilabel", training=aw.Training(lr=1e-2)
    )
    found = aw.evaluate(fitted, (x[200:], y[200:]), draws=20)
    assert found["f1_micro"] > 0.9
    assert found["top_1"] > 0.9

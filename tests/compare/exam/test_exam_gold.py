from dataclasses import replace

import pytest
import torch
from torch import Tensor

from askwise.compare.exam import gold as module
from askwise.compare.exam.answer import with_ones
from askwise.compare.exam.gold import Gold, load, path_of
from askwise.compare.exam.grades import grade
from askwise.compare.exam.heads import HEADS, Head, principal_axes
from askwise.errors import CorruptError


@pytest.fixture(scope="module", params=HEADS)
def pair(request: pytest.FixtureRequest) -> tuple[Head, Gold]:
    head = HEADS[request.param]()
    return head, load(head)


def exact(head: Head) -> tuple[Tensor, Tensor]:
    """Mean and precision of the posterior of a linear-Gaussian head, in closed form."""
    features, tau = with_ones(head.train[0]), head.task.options["tau"]
    precision = tau * features.T @ features + torch.eye(features.shape[1]) / head.prior_std**2
    return torch.linalg.solve(precision, tau * features.T @ head.train[1].double())[:, 0], precision


def test_the_chains_agree_and_are_long(pair) -> None:
    made = pair[1].made
    assert max(made["r_hat_highest"].values()) < 1.01
    assert min(made["effective_sample_size_lowest"].values()) > 5000
    assert made["divergences"] == 0
    assert {"command", "commit", "versions", "seed", "sampler"} <= made.keys()


def test_the_halves_of_the_draws_agree_on_everything_that_is_graded(pair) -> None:
    one, other = pair[1].halves
    found = grade(one, other, mean_field_std=pair[1].mean_field_std)
    assert 0.97 < found["std_5"] < found["std_95"] < 1.03
    assert found["covariance"] < 0.15
    assert abs(found["nll_gap"]) < 2e-3
    assert min(found["bald"], found["epistemic"]) > 0.999
    assert found["top_50"] >= 45


def test_the_posterior_is_neither_the_prior_nor_a_point(pair) -> None:
    head, gold = pair
    assert 0.2 < (gold.whole.std / head.prior_std).median() < 0.8


def test_nuts_finds_the_closed_form_of_the_linear_gaussian_head() -> None:
    head = HEADS["diabetes"]()
    gold = load(head)
    mean, precision = exact(head)
    covariance = precision.inverse()
    std = covariance.diagonal().sqrt()
    assert ((gold.whole.mean - mean).abs() / std).max() < 0.03
    assert (gold.whole.std / std - 1).abs().max() < 0.02
    assert (gold.whole.covariances.mean(0) - covariance).norm() / covariance.norm() < 0.03
    features = with_ones(head.pool)
    variance = (features @ covariance * features).sum(dim=1)
    torch.testing.assert_close(gold.whole.epistemic, variance, rtol=0.05, atol=0)
    torch.testing.assert_close(gold.whole.bald, (1 + 2 * variance).log() / 2, rtol=0.05, atol=0)
    features = with_ones(head.held[0])
    wide = (0.5 + (features @ covariance * features).sum(dim=1)).sqrt()
    density = torch.distributions.Normal(features @ mean, wide).log_prob(head.held[1][:, 0].double())
    assert gold.whole.log_density.mean().item() == pytest.approx(density.mean().item(), abs=0.005)
    torch.testing.assert_close(gold.mean_field_std, precision.diagonal().rsqrt(), rtol=1e-5, atol=0)
    torch.testing.assert_close(gold.mean_field_mean, mean, rtol=1e-4, atol=1e-6)


def test_the_mean_field_optimum_of_the_softmax_head_is_stationary() -> None:
    """Bonnet's and Price's theorems: mean gradient 0, and 1 / std^2 is the mean of the curvature."""
    head = HEADS["digits"]()
    gold = load(head)
    mean, std = (part.view(10, -1) for part in (gold.mean_field_mean, gold.mean_field_std))
    features = with_ones(head.train[0])
    rng = torch.Generator().manual_seed(0)
    spread = (features.square() @ std.square().T).sqrt()
    noise = torch.randn(1500, *spread.shape, generator=rng, dtype=torch.float64)
    noise = torch.cat([noise, -noise])  # in pairs: what is odd in the noise cancels
    p = (features @ mean.T + spread * noise).softmax(dim=-1)

    def off(own: Tensor, wide: Tensor) -> tuple[float, float]:
        precision = head.prior_std**-2 + (p * (1 - p)).mean(dim=0).T @ features.square()
        pull = (p.mean(dim=0) - torch.eye(10)[head.train[1]]).T @ features + own / head.prior_std**2
        return (wide * precision.sqrt() - 1).abs().max().item(), (pull / precision.sqrt()).abs().max().item()

    width, shift = off(mean, std)
    assert width < 0.02
    assert shift < 0.03
    assert off(mean, gold.whole.std.view(10, -1))[0] > 0.1  # the control: the exact widths are no optimum
    assert off(1.1 * mean, std)[1] > 0.06  # nor are other means


def test_the_file_is_small_enough_for_the_package(pair) -> None:
    assert path_of(pair[0].name).stat().st_size < 400_000


def test_gold_of_other_items_is_refused(pair, monkeypatch) -> None:
    head, _ = pair
    moved = head.train[0].clone()
    moved[3, 2] += 0.01
    with pytest.raises(CorruptError, match=r"other items than the head .*exam_gold\.py"):
        load(replace(head, train=(moved, head.train[1])))
    with pytest.raises(CorruptError, match="other items"):
        load(replace(head, pool=head.pool[1:]))


def test_what_is_saved_comes_back(pair, monkeypatch, tmp_path) -> None:
    head, gold = pair
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    module.save(head, gold)
    again = load(head)
    torch.testing.assert_close(again.whole.covariances, gold.whole.covariances)
    assert torch.equal(again.halves[1].bald, gold.halves[1].bald)
    assert again.made == gold.made


def test_principal_axes_have_variance_one_and_no_correlation() -> None:
    rng = torch.Generator().manual_seed(0)
    rows = torch.randn(200, 6, generator=rng) @ torch.randn(6, 6, generator=rng)
    seen, others = principal_axes(rows, rows[:7], count=4)
    torch.testing.assert_close(torch.cov(seen.T), torch.eye(4), rtol=0, atol=1e-4)
    torch.testing.assert_close(others, seen[:7])


def test_the_heads_are_what_they_say(pair) -> None:
    head, _ = pair
    for count, word in ((len(head.train[0]), "labels"), (len(head.pool), "pool items")):
        assert f"{count} {word}" in head.about
    assert f"{len(head.held[0])} held out" in head.about
    assert head.train[0].shape[1] == 20
    assert not (head.train[0][:, None] == head.pool[None]).all(dim=2).any()

import pytest
import torch
from tiny_head import head, weights

from askwise.compare.exam.answer import answer


def test_moments_are_those_of_the_draws_half_by_half() -> None:
    drawn = weights(10)
    found = answer(head(), drawn)
    flat = drawn.flatten(1)
    torch.testing.assert_close(found.mean, flat.mean(dim=0))
    for half, covariance in zip(flat.chunk(2), found.covariances, strict=True):
        torch.testing.assert_close(covariance, torch.cov(half.T))


def test_all_members_of_a_finite_posterior_are_its_whole_distribution() -> None:
    drawn = weights(4)
    found = answer(head(), drawn, finite=True)
    torch.testing.assert_close(found.std, drawn.flatten(1).std(dim=0, correction=0))


def test_scores_and_predictions_of_classes_are_those_of_a_plain_loop() -> None:
    tiny, drawn = head(), weights(7)
    found = answer(tiny, drawn)
    for at, x in enumerate(tiny.pool):
        p = torch.stack([(w[:, :2] @ x.double() + w[:, 2]).softmax(0) for w in drawn])
        mean = p.mean(dim=0)
        bald = -(mean * mean.log()).sum() + (p * p.log()).sum(dim=1).mean()
        assert found.bald[at].item() == pytest.approx(bald.item())
        assert found.epistemic[at].item() == pytest.approx(p.var(dim=0, correction=0).sum().item())
    for at, (x, y) in enumerate(zip(*tiny.held, strict=True)):
        mean = torch.stack([(w[:, :2] @ x.double() + w[:, 2]).softmax(0) for w in drawn]).mean(dim=0)
        torch.testing.assert_close(found.predicted[at], mean)
        assert found.log_density[at].item() == pytest.approx(mean[y].log().item())


def test_scores_and_predictions_of_numbers_are_those_of_a_plain_loop() -> None:
    tiny, drawn = head(classes=1), weights(7, classes=1)
    found = answer(tiny, drawn)
    for at, x in enumerate(tiny.pool):
        values = torch.stack([(w[:, :2] @ x.double() + w[:, 2])[0] for w in drawn])
        spread = values.var(correction=0)
        assert found.epistemic[at].item() == pytest.approx(spread.item())
        assert found.bald[at].item() == pytest.approx(((1 + 2 * spread).log() / 2).item())
    for at, (x, y) in enumerate(zip(*tiny.held, strict=True)):
        values = torch.stack([(w[:, :2] @ x.double() + w[:, 2])[0] for w in drawn])
        expected = torch.stack([values.mean(), values.var(correction=0) + 0.5])
        torch.testing.assert_close(found.predicted[at], expected)
        densities = torch.distributions.Normal(values, 0.5**0.5).log_prob(y.double()).exp()
        assert found.log_density[at].item() == pytest.approx(densities.mean().log().item())

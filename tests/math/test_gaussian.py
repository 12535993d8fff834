import pytest
import torch
from torch.distributions import Normal, kl_divergence

from askwise.math.gaussian import kl, log_density


def some(*shape, seed=0):
    rng = torch.Generator().manual_seed(seed)
    mean = torch.randn(shape, dtype=torch.float64, generator=rng)
    return mean, torch.rand(shape, dtype=torch.float64, generator=rng) + 0.1


def test_kl_is_zero_for_the_prior_itself():
    assert kl(torch.zeros(5), torch.full((5,), 0.3), 0.3).item() == pytest.approx(0, abs=1e-6)


def test_kl_equals_an_integral_on_a_grid():
    x = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    q, p = Normal(0.7, 0.4).log_prob(x), Normal(0.0, 1.5).log_prob(x)
    integral = torch.trapezoid(q.exp() * (q - p), x)
    assert kl(torch.tensor([0.7]), torch.tensor([0.4]), 1.5).item() == pytest.approx(
        integral.item(), rel=1e-6
    )


def test_kl_is_q_from_p_summed_over_all_weights():
    mean, std = some(4, 3)
    q, p = Normal(mean, std), Normal(torch.zeros_like(mean), torch.full_like(mean, 0.5))
    found = kl(mean, std, 0.5).item()
    assert found == pytest.approx(kl_divergence(q, p).sum().item())
    assert found != pytest.approx(kl_divergence(p, q).sum().item(), rel=0.01)  # PyTorch-BayesianCNN
    assert found != pytest.approx(kl_divergence(q, p).mean().item(), rel=0.01)  # bayesian-torch


def test_kl_has_the_right_gradient():
    mean, std = (x.requires_grad_() for x in some(3, 2))
    assert torch.autograd.gradcheck(lambda m, s: kl(m, s, 0.7), (mean, std))


def test_kl_stays_finite_for_tiny_deviations():
    assert kl(torch.zeros(2), torch.full((2,), 1e-30), 1.0).isfinite()


def test_log_density_equals_torch_and_broadcasts():
    mean, std = some(4, 3)
    x = some(4, 3, seed=1)[0]
    assert log_density(x, mean, std).item() == pytest.approx(Normal(mean, std).log_prob(x).sum().item())
    expected = Normal(0.0, 0.5).log_prob(x).sum().item()
    assert log_density(x, 0.0, 0.5).item() == pytest.approx(expected)
    assert log_density(x, mean[:1], std[:, :1]).item() == pytest.approx(
        Normal(mean[:1], std[:, :1]).log_prob(x).sum().item()
    )


def test_sampled_kl_agrees_with_the_closed_form():
    mean, std = some(50)
    rng = torch.Generator().manual_seed(2)
    draws = mean + std * torch.randn(4000, 50, dtype=torch.float64, generator=rng)
    sampled = (log_density(draws, mean, std) - log_density(draws, 0.0, 1.0)) / 4000
    assert sampled.item() == pytest.approx(kl(mean, std, 1.0).item(), rel=0.02)

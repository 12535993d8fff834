"""Scores of numbers: what the draws' Gaussians say, and how they lie apart."""

import math

import torch

from askwise.acquire.numbers import gaussian_bald, variance_of_means


def moments(means: list[float], variances: list[float]) -> torch.Tensor:
    """One item, one number, a draw for each pair."""
    pairs = [[mean, math.log(variance)] for mean, variance in zip(means, variances, strict=True)]
    return torch.tensor(pairs, dtype=torch.float64)[None, :, None, :]


def sampled_bald(found: torch.Tensor, *, cells: int = 40_001) -> float:
    """Mutual information of value and draw by numerical integration over the values."""
    mean, log_variance = found[0, :, 0].T
    reach = 10 * log_variance.exp().sqrt().max() + mean.abs().max()
    grid = torch.linspace(-float(reach), float(reach), cells, dtype=torch.float64)
    each = torch.distributions.Normal(mean[:, None], (log_variance / 2).exp()[:, None]).log_prob(grid)
    mixture = each.logsumexp(dim=0) - math.log(len(mean))
    divergence = (each.exp() * (each - mixture)).sum(dim=1) * (grid[1] - grid[0])
    return float(divergence.mean())


def test_variance_of_the_means_is_the_variance_of_the_means() -> None:
    found = moments([1.0, 2.0, 6.0], [4.0, 1.0, 9.0])
    assert variance_of_means(found).item() == ((1 - 3) ** 2 + (2 - 3) ** 2 + (6 - 3) ** 2) / 3


def test_gaussian_bald_is_half_the_log_of_total_by_noise_when_noise_is_equal() -> None:
    found = moments([-1.0, 1.0], [0.25, 0.25])
    assert math.isclose(gaussian_bald(found).item(), math.log((1 + 0.25) / 0.25) / 2)


def test_both_are_zero_when_the_draws_agree() -> None:
    found = moments([3.0] * 4, [0.5] * 4)
    assert variance_of_means(found).item() == 0
    assert abs(gaussian_bald(found).item()) < 1e-15


def test_gaussian_bald_sees_draws_that_agree_on_the_mean_and_not_on_the_noise() -> None:
    found = moments([3.0, 3.0], [0.1, 10.0])
    assert variance_of_means(found).item() == 0
    assert gaussian_bald(found).item() > 0.5


def test_gaussian_bald_bounds_the_integrated_one_from_above_and_is_near_it_for_small_uncertainty() -> None:
    rng = torch.Generator().manual_seed(0)
    for draws in (2, 3, 8):
        pair = torch.randn(2, draws, generator=rng, dtype=torch.float64)
        found = torch.stack([2 * pair[0], pair[1]], dim=-1)[None, :, None]
        assert sampled_bald(found) <= gaussian_bald(found).item() + 1e-9
    near = moments([0.0, 0.1, 0.2], [1.0, 1.0, 1.0])
    assert math.isclose(gaussian_bald(near).item(), sampled_bald(near), rel_tol=1e-2)
    far = moments([-50.0, 50.0], [1.0, 1.0])
    assert math.isclose(sampled_bald(far), math.log(2), rel_tol=1e-3)  # the control: the integral is right

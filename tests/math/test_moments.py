"""Gaussian predictions: densities by hand, and variances that add up."""

import math

import pytest
import torch

from askwise.math.moments import log_density, log_likelihood, variances


def found(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def density(value: float, mean: float, log_variance: float) -> float:
    variance = math.exp(log_variance)
    return math.exp(-((value - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def test_the_log_likelihood_is_that_of_the_mixture_by_brute_force() -> None:
    moments, labels = found(4, 3, 2), found(4)[:, :1].expand(4, 2).contiguous()
    expected = [
        [
            math.log(sum(density(float(labels[n, d]), *map(float, moments[n, t, d])) for t in range(3)) / 3)
            for d in range(2)
        ]
        for n in range(4)
    ]
    torch.testing.assert_close(log_likelihood(moments, labels), torch.tensor(expected, dtype=torch.float64))


def test_the_mixture_is_not_one_gaussian_of_the_same_variance() -> None:
    far = torch.tensor([[[[-5.0, 0.0]], [[5.0, 0.0]]]])
    between = log_likelihood(far, torch.zeros(1, 1)).item()
    assert between == pytest.approx(math.log(density(5, 0, 0)), abs=1e-5)
    assert between < math.log(density(0, 0, math.log(26))) - 8


def test_a_density_is_its_formula_at_a_known_place() -> None:
    one = log_density(torch.tensor([[1.0, math.log(4.0)]]), torch.tensor([3.0]))
    assert one.item() == pytest.approx(-0.5 - math.log(2 * math.sqrt(2 * math.pi)))


def test_variances_add_up_to_the_variance_of_samples() -> None:
    moments = found(1, 5, 2)
    uncertainty = variances(moments)
    torch.testing.assert_close(uncertainty.total, uncertainty.epistemic + uncertainty.aleatoric)
    noise = torch.randn(400_000, 5, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    samples = (moments[0, ..., 0] + (moments[0, ..., 1] / 2).exp() * noise).flatten(0, 1)
    torch.testing.assert_close(samples.var(dim=0), uncertainty.total[0], rtol=1e-2, atol=0)


def test_one_draw_has_no_epistemic_uncertainty() -> None:
    assert variances(found(3, 1, 2)).epistemic.abs().max() == 0


def test_values_far_away_stay_finite() -> None:
    moments = torch.tensor([[[[0.0, 0.0]], [[1.0, -20.0]]]])
    assert log_likelihood(moments, torch.tensor([[1e3]])).isfinite().all()

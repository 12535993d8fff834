"""The marginal likelihood is the exact one on linear-Gaussian data, and its top is found."""

import math

import pytest
import torch

from askwise.math.evidence import highest, log_det_gain, log_evidence


def test_the_evidence_of_linear_gaussian_data_is_exact() -> None:
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(12, 3, generator=rng, dtype=torch.float64)
    y = torch.randn(12, generator=rng, dtype=torch.float64)
    tau, delta = 2.5, 0.7
    curvature = tau * x.T @ x
    mode = torch.linalg.solve(curvature + delta * torch.eye(3, dtype=torch.float64), tau * x.T @ y)
    fit = torch.distributions.Normal(x @ mode, tau**-0.5).log_prob(y).sum().item()
    covariance = x @ x.T / delta + torch.eye(12, dtype=torch.float64) / tau
    exact = torch.distributions.MultivariateNormal(torch.zeros(12, dtype=torch.float64), covariance)
    found = log_evidence(fit, log_det_gain(curvature, delta), mode.square().sum().item(), delta)
    assert found == pytest.approx(exact.log_prob(y).item(), abs=1e-9)


def test_the_gain_is_nought_without_curvature_and_the_sum_over_eigenvalues_with_it() -> None:
    assert log_det_gain(torch.zeros(4, 4, dtype=torch.float64), 3.0) == 0.0
    values = torch.tensor([0.1, 2.0, 50.0], dtype=torch.float64)
    found = log_det_gain(torch.diag(values), 0.5)
    assert found == pytest.approx(torch.log1p(values / 0.5).sum().item())


@pytest.mark.parametrize("top", [-9.0, -3.0, 0.4, 2.99, 14.0])
def test_the_top_of_a_hill_is_found_with_few_looks(top: float) -> None:
    looks = []

    def hill(x: float) -> float:
        looks.append(x)
        return -math.cosh((x - top) / 3)

    assert highest(hill, 0.0, step=1.0, within=0.05) == pytest.approx(top, abs=0.2)
    assert len(looks) < 12


def test_a_parabola_takes_three_looks_and_a_hill_without_a_top_an_end() -> None:
    looks = []

    def parabola(x: float) -> float:
        looks.append(x)
        return -((x - 0.3) ** 2)

    assert highest(parabola, 0.0, step=1.0, within=0.5) == pytest.approx(0.3)
    assert len(looks) == 3
    assert highest(lambda x: x, 0.0, step=1.0, within=0.5) > 100
    assert highest(lambda _: 0.0, 0.5, step=1.0, within=0.5) == 0.5

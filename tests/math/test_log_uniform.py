"""The divergence from the log-uniform prior is the integral, as near as its authors fitted it."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from askwise.math import log_uniform


def integrated(alpha: float) -> float:
    """KL = E log|z + 1/sqrt(alpha)| - E log|z| for z ~ N(0, 1), by Gauss-Legendre around the singularity."""
    shift = alpha**-0.5
    nodes, weights = (torch.from_numpy(part) for part in _legendre(400))

    def over(low: float, high: float) -> Tensor:
        z = (high - low) / 2 * nodes + (high + low) / 2
        # exp(t) in place of the distance from the singularity, which takes the logarithm away
        far = z.exp()
        density = (-((far - shift) ** 2) / 2).exp() + (-((far + shift) ** 2) / 2).exp()
        return ((high - low) / 2 * weights * z * far * density / math.sqrt(2 * math.pi)).sum()

    top = math.log(shift + 12)
    edges = torch.linspace(-40, top, 60).tolist()
    expected = sum(over(a, b) for a, b in pairwise(edges))
    return float(expected) + (math.log(2) + 0.5772156649015329) / 2


def _legendre(order: int):
    from numpy.polynomial.legendre import leggauss

    return leggauss(order)


@pytest.mark.parametrize("log_alpha", [-8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0])
def test_it_is_within_a_hundredth_of_the_integral(log_alpha: float) -> None:
    found = log_uniform.kl(torch.tensor([log_alpha], dtype=torch.float64)).item()
    true = integrated(math.exp(log_alpha))
    assert found == pytest.approx(true, abs=0.01)
    # The control: without the sigmoid, as in a first approximation, it is off by more in the middle.
    if -2 <= log_alpha <= 0:
        assert math.log1p(math.exp(-log_alpha)) / 2 != pytest.approx(true, abs=0.01)


def test_the_integral_itself_agrees_with_draws() -> None:
    z = torch.randn(400_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for alpha in (0.1, 1.0, 10.0):
        drawn = ((z + alpha**-0.5).abs().log() - z.abs().log()).mean()
        assert integrated(alpha) == pytest.approx(drawn.item(), abs=0.01)


def test_it_is_nought_without_information_and_a_sum_over_weights() -> None:
    assert log_uniform.kl(torch.full((3,), 40.0)).item() == pytest.approx(0, abs=1e-6)
    each = [log_uniform.kl(torch.tensor([value])) for value in (-1.0, 2.0)]
    torch.testing.assert_close(log_uniform.kl(torch.tensor([-1.0, 2.0])), each[0] + each[1])

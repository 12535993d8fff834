"""L-BFGS ends where the slope is nought, on hills of every kind it is given."""

import pytest
import torch
from torch import Tensor

from askwise.math.lbfgs import minimum


def with_slope(function):
    """Value and slope of a function, and how often they were asked for."""
    asked = []

    def loss(point: Tensor) -> tuple[float, Tensor]:
        leaf = point.clone().requires_grad_()
        value = function(leaf)
        (slope,) = torch.autograd.grad(value, leaf)
        asked.append(value.item())
        return value.item(), slope

    return loss, asked


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("worst", [1.0, 1e2, 1e3])
def test_a_bowl_is_solved_exactly_and_at_once_if_it_is_round(worst: float) -> None:
    bends = torch.logspace(0, torch.tensor(worst).log10().item(), 20, dtype=torch.float64)
    bottom = torch.linspace(-2, 3, 20, dtype=torch.float64)
    loss, asked = with_slope(lambda x: (bends * (x - bottom).square()).sum() / 2)
    found = minimum(loss, torch.zeros(20, dtype=torch.float64), within=1e-8, steps=500)
    torch.testing.assert_close(found, bottom, rtol=0, atol=1e-7)
    assert worst > 1 or len(asked) == 2


def test_rosenbrocks_valley_is_followed_to_its_end() -> None:
    loss, asked = with_slope(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    torch.testing.assert_close(minimum(loss, numbers(-1.2, 1.0), within=1e-6, steps=200), numbers(1.0, 1.0))
    assert len(asked) < 120


def test_a_step_into_nothing_is_taken_back() -> None:
    loss, asked = with_slope(lambda x: (x - x.log()).sum())  # NaN below zero
    torch.testing.assert_close(minimum(loss, numbers(0.1, 30.0), within=1e-9, steps=100), numbers(1.0, 1.0))
    assert any(value != value for value in asked)


def test_the_value_never_rises_and_the_steps_are_counted() -> None:
    loss, _ = with_slope(lambda x: (x.square().square() + x.cos()).sum())
    start = numbers(3.0, -2.0, 0.3)
    values = [loss(minimum(loss, start, within=0.0, steps=steps))[0] for steps in range(12)]
    assert values == sorted(values, reverse=True)
    assert torch.equal(minimum(loss, start, within=1e9, steps=5), start)

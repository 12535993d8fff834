"""Weights that were put in place are gone afterwards, to the bit, whatever happened."""

import pytest
import torch
from torch import nn

from askwise.optim.sampling import gradients, normal, placed


def test_values_are_in_place_and_then_gone() -> None:
    parameters = [nn.Parameter(torch.rand(3)), nn.Parameter(torch.rand(2, 2))]
    before = [p.detach().clone() for p in parameters]
    parameters[0].grad = torch.ones(3)
    with placed(parameters, [torch.zeros(3), torch.ones(2, 2)]):
        assert parameters[0].grad is None
        assert parameters[0].tolist() == [0.0, 0.0, 0.0]
    assert all(torch.equal(p, b) for p, b in zip(parameters, before, strict=True))


def test_an_exception_changes_nothing() -> None:
    parameter = nn.Parameter(torch.rand(3))
    before = parameter.detach().clone()
    with pytest.raises(KeyboardInterrupt), placed([parameter], [torch.zeros(3)]):
        raise KeyboardInterrupt
    assert torch.equal(parameter, before)


def test_views_of_a_parameter_see_the_values_too() -> None:
    parameter = nn.Parameter(torch.rand(4))
    view = parameter.detach().view(2, 2)
    with placed([parameter], [torch.zeros(4)]):
        assert view.abs().sum() == 0


def test_a_missing_gradient_is_zero() -> None:
    used, unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
    used.sum().backward()
    assert [g.tolist() for g in gradients([used, unused])] == [[1.0, 1.0], [0.0, 0.0, 0.0]]


def test_noise_does_not_depend_on_the_layout() -> None:
    weight = torch.zeros(3, 4, 2, 2)
    other = weight.contiguous(memory_format=torch.channels_last)
    first, second = (normal([w], torch.Generator().manual_seed(0))[0] for w in (weight, other))
    assert torch.equal(first, second)

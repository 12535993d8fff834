"""Principal axes: fixed by the pool, rows of length one, the same for the same pool."""

import pytest
import torch

from askwise.errors import InputError
from askwise.pool.axes import fit_axes


def cloud(rows=200):
    rng = torch.Generator().manual_seed(1)
    return torch.randn(rows, 4, generator=rng) * torch.tensor([8.0, 1.0, 4.0, 0.5]) + 3


def test_power_zero_rotates_and_power_a_half_weights_by_the_deviation():
    x = cloud()
    centred = (x - x.mean(dim=0)).double()
    deviation = centred.pow(2).mean(dim=0).sqrt()
    axes = fit_axes(x)
    turned = centred @ axes.directions
    torch.testing.assert_close(turned.norm(dim=1), centred.norm(dim=1))  # a rotation keeps lengths
    torch.testing.assert_close(axes.variance, turned.pow(2).mean(dim=0))
    torch.testing.assert_close(axes.variance.sort().values, (deviation**2).sort().values, rtol=0.1, atol=0.05)
    for power in (0.0, 0.5):
        expected = torch.nn.functional.normalize(turned * axes.variance**power, dim=1)
        torch.testing.assert_close(axes(x, power=power), expected.float())


def test_rows_have_length_one_and_only_as_many_axes_as_are_wanted():
    rows = fit_axes(cloud(), count=2)(cloud())
    assert rows.shape == (200, 2)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(200))
    assert fit_axes(cloud(3), count=128)(cloud()).shape == (200, 2)  # three items span two axes


def test_the_same_pool_gives_the_same_axes_in_any_order_and_another_pool_others():
    x = cloud()
    one, two = fit_axes(x), fit_axes(x.flip(0))
    torch.testing.assert_close(one.directions, two.directions)
    assert one.digest == fit_axes(x.clone()).digest
    assert one.digest != fit_axes(x[:-1]).digest


def test_features_that_cannot_have_axes_are_refused():
    with pytest.raises(InputError, match="at least two rows of finite features"):
        fit_axes(torch.zeros(1, 3))
    with pytest.raises(InputError, match="at least two rows of finite features"):
        fit_axes(torch.tensor([[0.0], [float("nan")]]))

import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import nin


def test_layers_and_rates_are_those_of_the_paper():
    network = nin()
    shapes = [tuple(m.weight.shape) for m in network if isinstance(m, nn.Conv2d)]
    assert shapes == [
        (192, 3, 5, 5), (160, 192, 1, 1), (96, 160, 1, 1),
        (192, 96, 5, 5), (192, 192, 1, 1), (192, 192, 1, 1),
        (192, 192, 3, 3), (192, 192, 1, 1), (10, 192, 1, 1),
    ]  # fmt: skip
    assert (network.dropout1.p, network.dropout2.p) == (0.5, 0.5)
    by_hand = (
        (3 * 25 + 1) * 192 + (192 + 1) * 160 + (160 + 1) * 96
        + (96 * 25 + 1) * 192 + 2 * (192 + 1) * 192
        + (192 * 9 + 1) * 192 + (192 + 1) * 192 + (192 + 1) * 10
    )  # fmt: skip
    assert sum(p.numel() for p in network.parameters()) == by_hand == 966_986


def test_the_image_is_halved_twice_rounding_up():
    network, sides = nin().eval(), []
    for name in ("pool1", "pool2", "mix6"):
        network.get_submodule(name).register_forward_hook(lambda *call: sides.append(call[2].shape[-1]))
    network(torch.rand(1, 3, 32, 32))
    network(torch.rand(1, 3, 28, 28))
    assert sides == [16, 8, 8, 14, 7, 7]


def test_logits_are_the_means_of_the_last_maps():
    network, maps = nin(size=8).eval(), []
    network.mix6.register_forward_hook(lambda *call: maps.append(call[2]))
    torch.testing.assert_close(network(torch.rand(2, 3, 8, 8)), maps[0].mean(dim=(2, 3)))


def test_a_size_below_4_is_refused():
    with pytest.raises(InputError, match="at least 4 x 4, not size=3"):
        nin(size=3)
    assert nin(size=4)(torch.rand(2, 3, 4, 4)).shape == (2, 10)

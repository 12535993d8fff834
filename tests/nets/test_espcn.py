import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import espcn


def test_layers_are_those_of_the_paper():
    network = espcn()
    assert [stage for stage, _ in network.named_children()] == [
        "conv1", "relu1", "conv2", "relu2", "conv3", "relu3", "conv4", "shuffle",
    ]  # fmt: skip
    shapes = [tuple(m.weight.shape) for m in network if isinstance(m, nn.Conv2d)]
    assert shapes == [(64, 1, 5, 5), (64, 64, 3, 3), (32, 64, 3, 3), (9, 32, 3, 3)]
    by_hand = (25 + 1) * 64 + (64 * 9 + 1) * 64 + (64 * 9 + 1) * 32 + (32 * 9 + 1) * 9
    assert sum(p.numel() for p in network.parameters()) == by_hand


@pytest.mark.parametrize(("channels", "factor"), [(1, 3), (3, 2)])
def test_images_grow_by_the_factor(channels, factor):
    network = espcn(channels=channels, factor=factor)
    assert network(torch.rand(2, channels, 5, 7)).shape == (2, channels, 5 * factor, 7 * factor)


def test_the_values_of_one_place_become_its_block_of_pixels():
    network = espcn(factor=2)
    for name, value in (("weight", 0.0), ("bias", None)):
        with torch.no_grad():
            network.conv4.get_parameter(name).copy_(torch.arange(4) if value is None else torch.tensor(value))
    block = torch.tensor([[0.0, 1], [2, 3]])
    assert torch.equal(network(torch.rand(1, 1, 3, 3))[0, 0], block.repeat(3, 3))


def test_dropout_of_whole_maps_follows_each_hidden_layer_if_asked():
    rates = [m.p for m in espcn(dropout=0.2) if isinstance(m, nn.Dropout2d)]
    assert rates == [0.2] * 3


def test_what_is_no_rate_is_refused():
    with pytest.raises(InputError, match=r"dropout is a rate from 0 up to below 1, not 1\.5"):
        espcn(dropout=1.5)

"""Gaussian are the Linear and Conv layers that learn, or those that are named."""

import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.optim.layers import gaussian_layers


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 4), nn.Linear(4, 2)
    )


def test_all_linear_and_conv_layers_are_gaussian_by_default() -> None:
    assert list(gaussian_layers(network())) == ["0", "3", "4"]


def test_names_and_modules_choose() -> None:
    own = network()
    assert list(gaussian_layers(own, ["4", own[0]])) == ["4", "0"]


def test_frozen_layers_are_left_out() -> None:
    own = network()
    own[0].requires_grad_(False)
    assert list(gaussian_layers(own)) == ["3", "4"]


def test_attention_keeps_its_output_layer() -> None:
    own = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8)
    assert list(gaussian_layers(own)) == ["linear1", "linear2"]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="unknown layer '1'; choose one of: 0, 3, 4"):
        gaussian_layers(network(), ["1"])


def test_a_module_that_is_none_of_its_layers_is_refused() -> None:
    with pytest.raises(InputError, match="is no Linear or Conv layer of this network"):
        gaussian_layers(network(), [nn.Linear(2, 2)])


def test_nothing_to_learn_is_refused() -> None:
    with pytest.raises(InputError, match="no Linear or Conv layer to learn"):
        gaussian_layers(network().requires_grad_(False))


def test_shared_weights_are_refused_by_name() -> None:
    own = nn.ModuleDict({"words": nn.Embedding(5, 3), "head": nn.Linear(3, 5)})
    own["head"].weight = own["words"].weight
    with pytest.raises(InputError, match="layer 'head' shares its weight with 'words'"):
        gaussian_layers(own)
    assert torch.equal(own["head"].weight, own["words"].weight)

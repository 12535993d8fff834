import json

import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import build, mlp, narrow

SHAPES = {"dense1.weight": [3, 6], "dense1.bias": [3], "dense2.weight": [2, 3]}


def test_layers_have_the_given_shapes_and_know_their_widths():
    small = narrow(mlp(6, 2, hidden=(8,)), shapes=SHAPES)
    assert [small.dense1.out_features, small.dense2.in_features, small.dense2.out_features] == [3, 3, 2]
    assert small(torch.rand(4, 6)).shape == (4, 2)


def test_the_network_given_keeps_its_size():
    network = mlp(6, 2, hidden=(8,))
    network.dense1.weight.requires_grad_(False)
    small = narrow(network, shapes=SHAPES)
    assert network.dense1.weight.shape == (8, 6)
    assert [small.dense1.weight.requires_grad, small.dense1.bias.requires_grad] == [False, True]


def test_norms_are_narrowed_with_their_statistics():
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, affine=False))
    shapes = {"0.weight": [2, 1, 3, 3], "0.bias": [2], "1.running_mean": [2], "1.running_var": [2]}
    small = narrow(network, shapes=shapes)
    assert small[1].num_features == 2
    assert small(torch.rand(3, 1, 5, 5)).shape == (3, 2, 3, 3)


def test_its_recipe_builds_it_again_and_a_network_of_ones_own_has_none():
    small = narrow(mlp(6, 2, hidden=(8,)), shapes=SHAPES)
    recipe = json.loads(json.dumps(small.recipe))
    assert recipe["name"] == "narrow"
    again = build(recipe["name"], **recipe["options"])
    assert {n: t.shape for n, t in again.state_dict().items()} == {
        n: t.shape for n, t in small.state_dict().items()
    }
    assert again.recipe == small.recipe
    assert not hasattr(narrow(nn.Sequential(nn.Linear(2, 2)), shapes={"0.weight": [1, 2]}), "recipe")


def test_a_tensor_it_does_not_have_is_refused():
    with pytest.raises(InputError, match=r"unknown tensor 'dense1\.wait'; did you mean 'dense1\.weight'"):
        narrow(mlp(6, 2), shapes={"dense1.wait": [1]})

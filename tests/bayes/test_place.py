"""A placement is a choice of layers by position or name, on any network."""

import pytest
import torch
from torch import nn
from zoo import CASES

from askwise import nets
from askwise.bayes.place import called_layers, placement, replaced
from askwise.errors import InputError

ZENG = {
    "BNN": ({}, ["conv1", "conv2", "dense1", "dense2"]),
    "BNN-1": ({"last": 1}, ["dense2"]),
    "BNN-2": ({"last": 2}, ["dense1", "dense2"]),
    "BNN-3": ({"last": 3}, ["conv2", "dense1", "dense2"]),
    "BNN1": ({"first": 1}, ["conv1"]),
    "BNN2": ({"first": 2}, ["conv1", "conv2"]),
    "BNN3": ({"first": 3}, ["conv1", "conv2", "dense1"]),
    "by name": ({"layers": ["dense1", "conv1"]}, ["dense1", "conv1"]),
}


@pytest.mark.parametrize("name", ZENG)
def test_zengs_networks_are_placements_in_one_network(name: str) -> None:
    options, layers = ZENG[name]
    assert placement(nets.gal_cnn(), torch.zeros(1, 1, 28, 28), **options) == layers


def test_layers_count_in_the_order_they_run_not_in_which_they_are_defined() -> None:
    class Backwards(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head, self.body = nn.Linear(4, 2), nn.Linear(3, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.body(x))

    assert placement(Backwards(), torch.zeros(1, 3), last=1) == ["head"]


def test_weights_used_without_a_call_are_no_layer() -> None:
    case = CASES["attention"]
    assert list(called_layers(case.network(), case.inputs(1))) == ["head"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"last": 5}, "last=5 wants 5 layers; the network calls 4: conv1, conv2, dense1, dense2"),
        ({"first": 0}, "first must be a whole number of at least 1"),
        ({"layers": ["dense3"]}, "unknown layer 'dense3'; did you mean 'dense"),
        ({"layers": []}, "names no layer"),
    ],
)
def test_a_placement_that_matches_no_layer_is_refused(options: dict, match: str) -> None:
    with pytest.raises(InputError, match=match):
        placement(nets.gal_cnn(), torch.zeros(1, 1, 28, 28), **options)


def test_a_network_without_layers_is_refused() -> None:
    with pytest.raises(InputError, match="calls no Linear or Conv layer"):
        placement(nn.ReLU(), torch.zeros(1, 3))


def test_layers_come_back_after_an_exception() -> None:
    network = nets.gal_cnn()
    before = network.dense2

    def break_while_replaced() -> None:
        with replaced(network, {"dense2": nn.Identity()}):
            assert isinstance(network.dense2, nn.Identity)
            raise KeyError("anything")

    with pytest.raises(KeyError, match="anything"):
        break_while_replaced()
    assert network.dense2 is before

"""Channels are followed to every layer that reads them, with the right number of entries for each."""

import pytest
import torch
from torch import nn

import askwise as aw
from askwise.bayes.program.trace import tensors_of, trace
from askwise.bayes.prune.channels import Course, course
from askwise.errors import InputError


def follow(network: nn.Module, layer: str, *shape: int) -> Course:
    network.eval()
    return course(trace(network, tensors_of(network), torch.rand(2, *shape)).graph, layer, f"{layer}.weight")


@pytest.mark.parametrize(
    ("layer", "reader", "block"),
    [("conv1", "conv2", 1), ("conv2", "dense1", 25), ("dense1", "dense2", 1)],
)
def test_each_layer_of_lenet_is_read_by_the_next(layer, reader, block):
    way = follow(aw.nets.lenet5(size=28), layer, 1, 28, 28)
    assert (way.bias, way.norms, way.output) == (f"{layer}.bias", (), False)
    (found,) = way.readers
    assert (found.weight, found.bias, found.block) == (f"{reader}.weight", f"{reader}.bias", block)


def test_the_last_layer_gives_the_outputs():
    way = follow(aw.nets.lenet5(size=28), "dense3", 1, 28, 28)
    assert way.output
    assert way.readers == ()


def test_the_tensors_of_a_norm_have_a_value_for_every_entry_of_a_channel():
    network = nn.Sequential(
        nn.Conv2d(1, 3, 3, bias=False), nn.BatchNorm2d(3), nn.Flatten(), nn.BatchNorm1d(27), nn.Linear(27, 2)
    )
    way = follow(network, "0", 1, 5, 5)
    names = ("weight", "bias", "running_mean", "running_var")
    assert {(norm.name, norm.block) for norm in way.norms} == {
        *((f"1.{name}", 1) for name in names),
        *((f"3.{name}", 9) for name in names),
    }
    assert way.bias is None
    assert [reader.block for reader in way.readers] == [9]


@pytest.mark.parametrize(
    ("between", "message"),
    [
        (nn.Softmax(dim=1), "through '_softmax'"),
        (nn.PReLU(4), "through '_prelu_kernel'"),
        (nn.Unflatten(1, (2, 2)), "from shape"),
        (nn.GroupNorm(2, 4), "through 'native_group_norm'"),
    ],
)
def test_what_mixes_channels_is_refused_with_the_layers_name(between, message):
    network = nn.Sequential(nn.Conv2d(1, 4, 3), between, nn.Flatten(), nn.Linear(36, 2))
    with pytest.raises(InputError, match=f"'0' cannot be followed {message}"):
        follow(network, "0", 1, 5, 5)


def test_dense_layers_on_sequences_are_refused():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Flatten(), nn.Linear(20, 2))
    with pytest.raises(InputError, match="'0' cannot be followed"):
        follow(network, "0", 5, 3)

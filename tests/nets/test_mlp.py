import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import mlp


def test_hidden_layers_are_counted_from_one():
    network = mlp(6, 3, hidden=(5, 4), dropout=0.1)
    assert list(dict(network.named_children())) == [
        "flatten", "dense1", "relu1", "dropout1", "dense2", "relu2", "dropout2", "dense3",
    ]  # fmt: skip
    assert network.dense2.weight.shape == (4, 5)


def test_without_a_rate_there_is_no_dropout():
    assert not any(isinstance(m, nn.Dropout) for m in mlp(6, 3).modules())


def test_without_hidden_layers_it_is_linear():
    assert list(dict(mlp(6, 3, hidden=()).named_children())) == ["flatten", "dense1"]


def test_images_are_flattened():
    assert mlp(16, 2)(torch.rand(5, 1, 4, 4)).shape == (5, 2)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_a_rate_outside_zero_to_one_is_refused(rate):
    with pytest.raises(InputError, match="dropout is a rate"):
        mlp(6, 3, dropout=rate)


def test_a_hidden_layer_without_units_is_refused():
    with pytest.raises(InputError, match="hidden width must be a whole number of at least 1, not 0"):
        mlp(6, 3, hidden=(4, 0))

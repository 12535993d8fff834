import pytest
import torch

from askwise.errors import InputError
from askwise.nets import gal_cnn, gal_code_cnn


def test_layers_and_rates_are_those_of_the_paper():
    network = gal_cnn()
    assert [stage for stage, _ in network.named_children()] == [
        "conv1", "relu1", "conv2", "pool", "relu2", "dropout1",
        "flatten", "dense1", "relu3", "dropout2", "dense2",
    ]  # fmt: skip
    assert network.conv1.weight.shape == (32, 1, 4, 4)
    assert network.conv2.weight.shape == (32, 32, 4, 4)
    assert network.dense1.weight.shape == (128, 3872)
    assert network.dense2.weight.shape == (10, 128)
    assert (network.dropout1.p, network.dropout2.p) == (0.25, 0.5)


def test_it_takes_the_8_by_8_digits():
    assert gal_cnn(size=8).eval()(torch.rand(2, 1, 8, 8)).shape == (2, 10)


def test_a_size_below_8_is_refused():
    with pytest.raises(InputError, match="at least 8 x 8, not size=7"):
        gal_cnn(size=7)


def test_the_authors_code_has_smaller_kernels_and_a_larger_pooling():
    network = gal_code_cnn()
    assert network.conv2.weight.shape == (32, 32, 3, 3)
    assert network.dense1.weight.shape == (128, 32 * 4 * 4)
    assert network.pool.kernel_size == 5
    assert network.eval()(torch.rand(2, 1, 28, 28)).shape == (2, 10)

import pytest

from askwise.errors import InputError
from askwise.nets import batchbald_cnn


def test_layers_and_rates_are_those_of_the_paper():
    network = batchbald_cnn()
    assert network.conv1.weight.shape == (32, 1, 5, 5)
    assert network.conv2.weight.shape == (64, 32, 5, 5)
    assert network.dense1.weight.shape == (128, 1024)
    assert [network.get_submodule(f"dropout{i}").p for i in (1, 2, 3)] == [0.5, 0.5, 0.5]


def test_a_size_below_16_is_refused():
    with pytest.raises(InputError, match="at least 16 x 16, not size=8"):
        batchbald_cnn(size=8)

import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import lenet5


@pytest.mark.parametrize("size", [28, 32])
def test_both_sizes_meet_the_400_features_of_the_paper(size):
    network = lenet5(size=size, channels=3)
    assert network(torch.rand(2, 3, size, size)).shape == (2, 10)
    dense = [m for m in network if isinstance(m, nn.Linear)]
    assert [layer.in_features for layer in dense] == [400, 120, 84]


def test_padding_makes_28_pixels_the_same_as_32_with_a_black_border():
    small, large = lenet5(size=28), lenet5(size=32)
    large.load_state_dict(small.state_dict())
    inputs = torch.rand(2, 1, 28, 28)
    torch.testing.assert_close(small(inputs), large(nn.functional.pad(inputs, (2, 2, 2, 2))))


def test_the_activation_is_a_choice():
    assert isinstance(lenet5(activation="softplus").act1, nn.Softplus)
    with pytest.raises(InputError, match="unknown activation 'softpls'; did you mean 'softplus'"):
        lenet5(activation="softpls")


def test_another_size_is_refused():
    with pytest.raises(InputError, match="32 x 32 or 28 x 28, not size=8"):
        lenet5(size=8)


def test_dropout_follows_each_stage_but_the_last():
    stages = [name for name, _ in lenet5(dropout=0.2).named_children()]
    before = [stages[at - 1] for at, name in enumerate(stages) if name.startswith("dropout")]
    assert before == ["pool1", "pool2", "act3", "act4"]
    assert not any(isinstance(module, nn.Dropout) for module in lenet5())
    assert lenet5().state_dict().keys() == lenet5(dropout=0.2).state_dict().keys()

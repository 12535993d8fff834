import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import alexnet, alexnet_half

STAGES = [
    "conv1", "act1", "pool1", "conv2", "act2", "pool2", "conv3", "act3",
    "conv4", "act4", "conv5", "act5", "pool3", "flatten", "dense",
]  # fmt: skip


def count(filters: list[int], channels: int, classes: int) -> int:
    """Weights and biases by hand: kernels of 11, 5, 3, 3 and 3, and the dense layer."""
    inner = [channels, *filters[:-1]]
    kernels = [11, 5, 3, 3, 3]
    convolutions = sum(i * o * k * k + o for i, o, k in zip(inner, filters, kernels, strict=True))
    return convolutions + filters[-1] * classes + classes


@pytest.mark.parametrize(
    ("builder", "filters"), [(alexnet, [64, 192, 384, 256, 128]), (alexnet_half, [32, 96, 192, 128, 64])]
)
def test_layers_are_those_of_the_paper(builder, filters):
    network = builder(channels=3, classes=10)
    assert [stage for stage, _ in network.named_children()] == STAGES
    assert [m.out_channels for m in network if isinstance(m, nn.Conv2d)] == filters
    assert (network.conv1.kernel_size, network.conv1.stride, network.conv1.padding) == (
        (11, 11),
        (4, 4),
        (5, 5),
    )
    assert sum(p.numel() for p in network.parameters()) == count(filters, 3, 10)


def test_padding_makes_28_pixels_the_same_as_32_with_a_black_border():
    small, large = alexnet_half(size=28, channels=1), alexnet_half(size=32, channels=1)
    large.load_state_dict(small.state_dict())
    inputs = torch.rand(2, 1, 28, 28)
    torch.testing.assert_close(small(inputs), large(nn.functional.pad(inputs, (2, 2, 2, 2))))


def test_the_activation_is_a_choice():
    assert isinstance(alexnet(activation="softplus").act5, nn.Softplus)


def test_another_size_is_refused():
    with pytest.raises(InputError, match="AlexNet takes images of 32 x 32 or 28 x 28, not size=64"):
        alexnet(size=64)

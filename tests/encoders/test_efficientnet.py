"""EfficientNet-Lite: the folded network does what the published one did, and its features are pinned."""

import pytest
import torch
from torch.nn import functional as F

import askwise as aw
from askwise.encoders import PICTURES
from askwise.encoders.efficientnet import STAGES, Convolution, network
from askwise.errors import CorruptError

PINNED = {
    "lite2": (14.26146, [0.18811, 0.0, 0.07482, 0.45505, 0.00168, 1.05889, 0.0, 0.00769]),
    "lite0": (17.56189, [0.0, 0.87324, 0.0, 0.03112, 0.0, 0.65967, 0.0, 0.0]),
}
"""Their length, and every 160th."""


def published(name):
    """Random weights under the published names."""
    rng = torch.Generator().manual_seed(0)
    found = {}

    def add(convolution, norm, outputs, inputs, kernel):
        fan = inputs * kernel * kernel
        found[f"{convolution}.weight"] = (
            torch.randn(outputs, inputs, kernel, kernel, generator=rng) / fan**0.5
        )
        found[f"{norm}.weight"] = 1 + 0.1 * torch.randn(outputs, generator=rng)
        found[f"{norm}.bias"] = 0.1 * torch.randn(outputs, generator=rng)
        found[f"{norm}.running_mean"] = 0.1 * torch.randn(outputs, generator=rng)
        found[f"{norm}.running_var"] = 0.5 + torch.rand(outputs, generator=rng)

    add("_conv_stem", "_bn0", 32, 3, 3)
    inputs, number = 32, 0
    for stage in STAGES[name]:
        for _ in range(stage.blocks):
            inner = inputs * (6 if number else 1)
            if number:
                add(f"_blocks.{number}._expand_conv", f"_blocks.{number}._bn0", inner, inputs, 1)
            add(f"_blocks.{number}._depthwise_conv", f"_blocks.{number}._bn1", inner, 1, stage.kernel)
            add(f"_blocks.{number}._project_conv", f"_blocks.{number}._bn2", stage.channels, inner, 1)
            inputs, number = stage.channels, number + 1
    add("_conv_head", "_bn1", 1280, inputs, 1)
    return found


def plain(name, weights, pictures):
    """The published network, operation by operation, with its batch normalisation."""

    def step(x, convolution, norm, *, stride=1, active=True):
        weight = weights[f"{convolution}.weight"]
        kernel, side = weight.shape[-1], x.shape[-1]
        short = max(0, (-(-side // stride) - 1) * stride + kernel - side)
        x = F.pad(x, (short // 2, short - short // 2) * 2)
        x = F.conv2d(x, weight, stride=stride, groups=x.shape[1] // weight.shape[1])
        moments = weights[f"{norm}.running_mean"], weights[f"{norm}.running_var"]
        x = F.batch_norm(x, *moments, weights[f"{norm}.weight"], weights[f"{norm}.bias"], eps=1e-3)
        return F.relu6(x) if active else x

    x = step((pictures * 255 - 127) / 128, "_conv_stem", "_bn0", stride=2)
    number = 0
    for stage in STAGES[name]:
        for place in range(stage.blocks):
            before, at = x, f"_blocks.{number}"
            if number:
                x = step(x, f"{at}._expand_conv", f"{at}._bn0")
            x = step(x, f"{at}._depthwise_conv", f"{at}._bn1", stride=1 if place else stage.stride)
            x = step(x, f"{at}._project_conv", f"{at}._bn2", active=False)
            x = x + before if x.shape == before.shape and place else x
            number += 1
    return step(x, "_conv_head", "_bn1").mean(dim=(2, 3))


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("side", [64, 37])
def test_folding_the_normalisation_away_changes_nothing(name, side):
    weights, pictures = published(name), torch.rand(2, 3, side, side)
    made = network(name, weights)
    torch.testing.assert_close(made(pictures), plain(name, weights, pictures), rtol=1e-3, atol=1e-4)
    weights["_bn1.running_var"] += 1
    assert not torch.allclose(made(pictures), plain(name, weights, pictures), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("side", [5, 6, 7, 8])
def test_a_convolution_leaves_its_inputs_over_the_stride_rounded_up(side, stride):
    made = Convolution(1, 1, 3, stride=stride)
    assert made(torch.zeros(1, 1, side, side)).shape[-1] == -(-side // stride)


def test_odd_padding_goes_to_the_right_and_below():
    made = Convolution(1, 1, 3, stride=2)
    torch.nn.init.ones_(made.weight)
    torch.nn.init.zeros_(made.bias)
    assert made(torch.ones(1, 1, 4, 4)).flatten().tolist() == [9, 6, 6, 4]


def test_the_network_is_frozen_and_other_weights_are_refused():
    weights = published("lite0")
    assert not any(part.requires_grad for part in network("lite0", weights).parameters())
    with pytest.raises(CorruptError, match="not the weights of EfficientNet lite2"):
        network("lite2", weights)


def picture(size):
    """Colours that run across the picture, with a few edges."""
    line = torch.linspace(0, 1, size)
    rows, columns = torch.meshgrid(line, line, indexing="ij")
    waves = (torch.sin(20 * rows * columns) + 1) / 2
    return torch.stack([rows, columns, (waves > 0.5).float()])[None]


@pytest.mark.parametrize("name", ["lite2", "lite0"])
def test_the_features_of_one_picture_are_pinned(name):
    record = next(r for r in aw.encoders.known() if r.name == name)
    if record.place is None:
        pytest.skip(f"the weights of {name} are not installed: {record.install}")
    encoder = aw.encoders.load(name)
    found = encoder.module(picture(record.size))[0]
    assert (record.takes, found.shape) == (PICTURES, (record.width,))
    norm, some = PINNED[name]
    assert found.norm().item() == pytest.approx(norm, rel=1e-4)
    assert found[::160].tolist() == pytest.approx(some, abs=1e-4)

"""EfficientNet-Lite (Tan & Le 2019, without squeeze and swish): pictures to 1280 features.

Batch normalisation is folded into the convolutions when the weights are read, so that a convolution,
its bias and a ReLU6 are all there is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.errors import CorruptError

WIDTH = 1280
_EPSILON = 1e-3  # of the batch normalisation that is folded away
_STEM, _EXPANSION = 32, 6


@dataclass(frozen=True)
class Stage:
    """Blocks in a row: how many, the side of their kernels, the first one's stride, their channels."""

    blocks: int
    kernel: int
    stride: int
    channels: int


_SHAPE = ((3, 1), (3, 2), (5, 2), (3, 2), (5, 1), (5, 2), (3, 1))  # kernel and stride of the seven stages
_BLOCKS = {"lite0": (1, 2, 2, 3, 3, 4, 1), "lite2": (1, 3, 3, 4, 4, 5, 1)}
_CHANNELS = {"lite0": (16, 24, 40, 80, 112, 192, 320), "lite2": (16, 24, 48, 88, 120, 208, 352)}
STAGES = {
    name: tuple(
        Stage(blocks, kernel, stride, channels)
        for (kernel, stride), blocks, channels in zip(_SHAPE, _BLOCKS[name], _CHANNELS[name], strict=True)
    )
    for name in _BLOCKS
}


class Convolution(nn.Conv2d):
    """A convolution that pads as TensorFlow does: what is odd goes to the right and below."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, *, stride: int = 1, groups: int = 1):
        super().__init__(inputs, outputs, kernel, stride=stride, groups=groups)

    def forward(self, pixels: Tensor) -> Tensor:
        """The outputs, as many as the stride leaves of the inputs."""
        high, wide = (self._missing(side, axis) for axis, side in enumerate(pixels.shape[-2:]))
        if high % 2 or wide % 2:
            pixels = F.pad(pixels, (wide // 2, wide - wide // 2, high // 2, high - high // 2))
            high = wide = 0
        return F.conv2d(
            pixels, self.weight, self.bias, self.stride, (high // 2, wide // 2), groups=self.groups
        )

    def _missing(self, side: int, axis: int) -> int:
        kernel, stride = self.kernel_size[axis], self.stride[axis]
        return max(0, (-(-side // stride) - 1) * stride + kernel - side)


class Block(nn.Module):
    """Widen, convolve every channel on its own, narrow; and add what came in where shapes allow it."""

    def __init__(self, inputs: int, outputs: int, *, kernel: int, stride: int, expansion: int):
        super().__init__()
        inner = inputs * expansion
        self.expand = Convolution(inputs, inner) if expansion > 1 else None
        self.depthwise = Convolution(inner, inner, kernel, stride=stride, groups=inner)
        self.project = Convolution(inner, outputs)
        self.skips = stride == 1 and inputs == outputs

    def forward(self, pixels: Tensor) -> Tensor:
        """The block's outputs."""
        wide = pixels if self.expand is None else F.relu6(self.expand(pixels), inplace=True)
        found: Tensor = self.project(F.relu6(self.depthwise(wide), inplace=True))
        return found + pixels if self.skips else found


class EfficientNetLite(nn.Module):
    """Pictures with values from 0 to 1 to the mean of the last convolution's outputs."""

    def __init__(self, stages: tuple[Stage, ...]) -> None:
        super().__init__()
        self.stem = Convolution(3, _STEM, 3, stride=2)
        channels = [_STEM, *(stage.channels for stage in stages)]
        self.blocks = nn.ModuleList(
            Block(
                outputs if number else inputs,
                outputs,
                kernel=stage.kernel,
                stride=1 if number else stage.stride,
                expansion=1 if place == 0 else _EXPANSION,
            )
            for place, (stage, (inputs, outputs)) in enumerate(zip(stages, pairwise(channels), strict=True))
            for number in range(stage.blocks)
        )
        self.head = Convolution(channels[-1], WIDTH)

    def forward(self, pictures: Float[Tensor, "N 3 H W"]) -> Float[Tensor, "N D"]:
        """One row of features for each picture."""
        pixels = F.relu6(self.stem((pictures * 255 - 127) / 128), inplace=True)
        for block in self.blocks:
            pixels = block(pixels)
        return F.relu6(self.head(pixels), inplace=True).mean(dim=(2, 3))


def network(name: str, published: Mapping[str, Tensor]) -> EfficientNetLite:
    """The network of that name with the weights of its published state dict, frozen."""
    with torch.device("meta"):
        made = EfficientNetLite(STAGES[name])
    try:
        folded = {
            f"{place}.{part}": value
            for place, convolution, norm in _pairs(made)
            for part, value in _folded(published, convolution, norm).items()
        }
        made.load_state_dict(folded, assign=True)
    except (KeyError, RuntimeError) as reason:
        raise CorruptError(f"these are not the weights of EfficientNet {name}: {reason}") from reason
    return made.requires_grad_(False).eval()


def _pairs(made: EfficientNetLite) -> list[tuple[str, str, str]]:
    """Each convolution here, and the names of its weights and of its normalisation as published."""
    found = [("stem", "_conv_stem", "_bn0"), ("head", "_conv_head", "_bn1")]
    for number, block in enumerate(made.blocks):
        here, there = f"blocks.{number}", f"_blocks.{number}"
        if isinstance(block, Block) and block.expand is not None:
            found.append((f"{here}.expand", f"{there}._expand_conv", f"{there}._bn0"))
        found.append((f"{here}.depthwise", f"{there}._depthwise_conv", f"{there}._bn1"))
        found.append((f"{here}.project", f"{there}._project_conv", f"{there}._bn2"))
    return found


def _folded(published: Mapping[str, Tensor], convolution: str, norm: str) -> dict[str, Tensor]:
    """Weight and bias of a convolution that does what the convolution and its normalisation did."""
    mean, variance = (published[f"{norm}.running_{moment}"].double() for moment in ("mean", "var"))
    scale = published[f"{norm}.weight"].double() / (variance + _EPSILON).sqrt()
    weight = published[f"{convolution}.weight"].double() * scale[:, None, None, None]
    bias = published[f"{norm}.bias"].double() - mean * scale
    return {"weight": weight.float(), "bias": bias.float()}

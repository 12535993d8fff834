"""A convolution under masks of its input channels, for all draws at once.

A convolution adds up what its channels give, and a mask of whole channels only weighs them. So what each
channel gives is computed once, and the T outputs are one product: masks [T, C] by [C, pixels x outputs].
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.bayes.program.chain import Activate, Convolve, Pool, through
from askwise.bayes.program.products import product
from askwise.bayes.program.trace import channels_last

_ROOM = 48 * 2**20  # bytes of outputs kept for the layers behind; measured: fewer items starve their products
_FEWEST = 16  # items that the layers behind need at a time
_TOGETHER = 2  # items whose channels are convolved at once; measured: more leave the cache
_GAIN = 3.0  # how many times fewer multiplications there must be, since sums move more memory; measured


def room(
    layer: Convolve,
    masks: Float[Tensor, "T C"],
    *,
    wanted: float,
    item: Tensor,
    after: Sequence[Activate | Pool],
) -> int:
    """How many items to pass at a time, a power of two; none where a convolution for every draw is better.

    Such a convolution computes a share `wanted` of the outputs; `item` [1, C, H, W] is on the meta device.
    """
    count, taps = len(masks), math.prod(layer.weight.shape[2:])
    kept = float((masks != 0).float().mean())
    if item.ndim != 4 or count * kept * wanted * taps < _GAIN * (count + taps):
        return 0
    out = layer(item, torch.empty(layer.weight.shape, device="meta"), None)
    left = through(after, out)
    if count * out.numel() * out.element_size() > _ROOM:
        return 0
    fitting = _ROOM // (count * left.numel() * left.element_size())
    return 1 << (fitting.bit_length() - 1) if fitting >= _FEWEST else 0


def bind(
    layer: Convolve, masks: Float[Tensor, "T C"], *, after: Sequence[Activate | Pool], rows: int
) -> Callable[[Tensor], Iterator[Tensor]]:
    """From items [n, C, H, W] to what the layer and the steps after it give, [T, rows, E, H, W] at a time.

    Each part overwrites the one before: fresh memory would cost as much as the sums.
    """
    outputs, inputs = layer.weight.shape[:2]
    weight = channels_last(layer.weight.transpose(0, 1).reshape(inputs * outputs, 1, *layer.weight.shape[2:]))
    channel_by_channel = replace(layer, groups=inputs)
    masks = masks.to(weight.dtype)

    def summed(values: Tensor) -> Iterator[Tensor]:
        for start in range(0, len(values), _TOGETHER):
            given = channel_by_channel(values[start : start + _TOGETHER], weight, None)
            n, _, height, width = given.shape
            for one in given.permute(0, 2, 3, 1).view(n, height, width, inputs, outputs):
                by_channel = one.permute(2, 0, 1, 3).reshape(inputs, -1)
                sums = product(masks, by_channel).view(-1, height, width, outputs)
                if layer.bias is not None:
                    sums += layer.bias
                yield through(after, sums.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)

    def run(values: Tensor) -> Iterator[Tensor]:
        part: Tensor | None = None
        for number, sums in enumerate(summed(values)):
            if part is None:
                part = sums.new_empty(len(masks), min(rows, len(values)), *sums.shape[1:])
            at = number % rows
            part[:, at] = sums
            if at + 1 == rows or number + 1 == len(values):
                yield part[:, : at + 1].permute(0, 1, 4, 2, 3)

    return run

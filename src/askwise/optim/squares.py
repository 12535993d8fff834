"""The square of every item's own gradient, averaged over a batch: exact, from what a layer was called on.

A layer's gradient for one item is a sum over the places where the item meets the weights: one for a
vector, the positions of a sequence, the places of a convolution's kernel, the calls of a layer that
is used twice. With one place its square is a product of squares; several are summed before squaring.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

Layer: TypeAlias = nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d
LIMIT = 16_000_000  # bytes of working memory: about what a processor's cache holds, measured to be fastest

Call: TypeAlias = tuple[Tensor, Tensor]
"""What went into a layer, and the gradient of the mean loss at what came out; items first."""


def mean_squares(layer: Layer, calls: Sequence[Call], *, limit: int = LIMIT) -> dict[str, Tensor]:
    """Mean over the items of the squared gradient of an item's own loss, for weight and bias.

    The loss is a mean, so an item's own gradient is the number of items times its share.
    """
    items = len(calls[0][0])
    weight = torch.zeros_like(layer.weight, memory_format=torch.contiguous_format, requires_grad=False)
    bias = weight.new_zeros(weight.shape[0])
    step = _items_at_once(layer, calls, limit)
    for start in range(0, items, step):
        at = slice(start, start + step)
        patches = _joined([_patches(layer, inputs[at]) for inputs, _ in calls])
        grads = _joined([_places(layer, gradient[at]) for _, gradient in calls])
        weight += _squares(patches, grads).view_as(weight)
        bias += grads.sum(dim=3).square_().sum(dim=0).flatten()
    return {"weight": weight.mul_(items), "bias": bias.mul_(items)}


def _squares(
    patches: Float[Tensor, "n groups D places"], grads: Float[Tensor, "n groups E places"]
) -> Float[Tensor, "groups E D"]:
    """Sum over items of the square of each item's gradient."""
    if patches.shape[3] == 1:
        return torch.einsum("nge,ngd->ged", grads[..., 0].square(), patches[..., 0].square())
    own: Tensor = grads @ patches.transpose(2, 3)
    return own.square_().sum(dim=0)


def _patches(layer: Layer, inputs: Tensor) -> Float[Tensor, "n groups D places"]:
    """What the weights are multiplied with at each place."""
    if isinstance(layer, nn.Linear):
        return inputs.reshape(len(inputs), 1, -1, inputs.shape[-1]).transpose(2, 3)
    mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
    inputs = F.pad(inputs, layer._reversed_padding_repeated_twice, mode=mode)
    axes = len(layer.kernel_size)
    steps = zip(layer.kernel_size, layer.dilation, layer.stride, strict=True)
    for axis, (size, gap, stride) in enumerate(steps):
        inputs = inputs.unfold(2 + axis, gap * (size - 1) + 1, stride)[..., ::gap]
    # From n, channels, *places, *kernel; copied with the places last, which is twice as fast.
    moved = inputs.permute(0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    return moved.reshape(len(moved), layer.groups, -1, math.prod(moved.shape[-axes:]))


def _places(layer: Layer, gradient: Tensor) -> Float[Tensor, "n groups E places"]:
    """The gradient at each place, by group of channels."""
    if isinstance(layer, nn.Linear):
        return gradient.reshape(len(gradient), 1, -1, gradient.shape[-1]).transpose(2, 3)
    return gradient.reshape(len(gradient), layer.groups, gradient.shape[1] // layer.groups, -1)


def _joined(calls: list[Tensor]) -> Tensor:
    """The places of all calls; one call is left as it is, since joining copies."""
    return calls[0] if len(calls) == 1 else torch.cat(calls, dim=3)


def _items_at_once(layer: Layer, calls: Sequence[Call], limit: int) -> int:
    """How many items' patches, gradients and products fit into the limit; at least one."""
    weight = layer.weight
    per_place = weight[0].numel() * getattr(layer, "groups", 1) + weight.shape[0]
    places = sum(gradient[0].numel() // weight.shape[0] for _, gradient in calls)
    numbers = places * per_place + (weight.numel() if places > 1 else 0)
    return max(1, limit // (numbers * weight.element_size()))

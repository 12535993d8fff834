"""Convolutions and dense layers under dropout of whole channels, computed on the kept channels alone.

A convolution need not read a channel that is dropped, nor compute one that the next mask drops: where
half of them are, a quarter of the work is left. Pooling and relu commute with such a mask, so those
between the first mask and its layer run once for all draws.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from askwise.bayes.program.chain import Activate, Chain, Convolve, Dense, Mask, Pool
from askwise.bayes.program.dense_masks import two_valued
from askwise.bayes.program.trace import channels_last

_COMMUTE = (torch.ops.aten.relu.default, torch.ops.aten.relu_.default)


@dataclass(frozen=True)
class Block:
    """A layer with the mask before it, what stands between the two, and what follows the layer."""

    mask: Mask | None
    between: tuple[Activate | Pool, ...]
    layer: Convolve | Dense
    after: tuple[Activate | Pool, ...]


@dataclass(frozen=True)
class Thinned:
    """A layer under one draw: the weights from the inputs that count to the outputs that are wanted."""

    inputs: Tensor | None
    """Positions of the inputs to pick first; None where no others have been computed."""
    outputs: Tensor | None
    """Positions of the outputs; None for all."""
    weight: Tensor
    bias: Tensor | None


def blocks_of(chain: Chain) -> list[Block]:
    """The chain as blocks; none where its order or its weights do not allow that."""
    blocks: list[Block] = []
    mask: Mask | None = None
    between: list[Activate | Pool] = []
    for step in chain.steps:
        if isinstance(step, Mask):
            if mask is not None:
                return []
            mask = step
        elif isinstance(step, Convolve | Dense):
            if isinstance(step.weight, str) or isinstance(step.bias, str):
                return []
            blocks.append(Block(mask, tuple(between), step, ()))
            mask, between = None, []
        elif mask is not None:
            if isinstance(step, Activate) and step.function not in _COMMUTE:
                return []
            between.append(step)
        elif blocks:
            last = blocks[-1]
            blocks[-1] = Block(last.mask, last.between, last.layer, (*last.after, step))
        else:
            return []
    return blocks if mask is None and blocks and blocks[0].mask is not None else []


def fits(blocks: Sequence[Block], drawn: Mapping[str, Tensor]) -> bool:
    """Whether all masks are of whole channels, with one scale for what they keep."""
    masks = [block.mask for block in blocks if block.mask is not None]
    return all(
        drawn[mask.name][0].numel() == mask.shape[0] and two_valued(drawn[mask.name]) for mask in masks
    )


def bind(
    blocks: Sequence[Block], drawn: Mapping[str, Tensor], *, count: int, budget: int
) -> Callable[[Tensor], Tensor]:
    """From the source [n, C, ...] to the outputs [n, T, E], under masks that fit."""
    masks = [None if block.mask is None else drawn[block.mask.name].reshape(count, -1) for block in blocks]
    layers = [_weights(block.layer) for block in blocks]
    start = masks[0]
    assert start is not None  # noqa: S101  blocks_of sees to it
    # Where less than half is dropped, what the dropped channels give is subtracted from what all give.
    whole = float(start.max()) if bool((start == 0).float().mean() < 0.5) else None
    cut = [_cuts(one, other) for one, other in pairwise(blocks)]  # whether a mask decides what is computed

    def thinned(number: int) -> list[Thinned]:
        own = [None if mask is None else mask[number] for mask in masks]
        outputs = [
            _kept(mask) if cuts and mask is not None else None
            for cuts, mask in zip(cut, own[1:], strict=True)
        ]
        if whole is not None:
            own[0] = start[number] - whole
        return [
            _thin(layer, mask, rows, picks=not at or not cut[at - 1], has_bias=bool(at) or whole is None)
            for at, (layer, mask, rows) in enumerate(zip(layers, own, [*outputs, None], strict=True))
        ]

    size = sum(one.weight.numel() * one.weight.element_size() for one in thinned(0))
    known = list(map(thinned, range(count))) if count * size <= budget else None
    own_part = [replace(blocks[0], between=()), *blocks[1:]]

    def run(source: Tensor) -> Tensor:
        between = blocks[0].between
        shared = _steps(between, source.clone() if _overwrites(between) else source)
        base = None
        if whole is not None:
            base = _apply(blocks[0].layer, shared, layers[0][0] * whole, layers[0][1])
        found: Tensor | None = None
        for number in range(count):
            one = _pass(own_part, known[number] if known else thinned(number), shared, base)
            found = one.new_empty(count, *one.shape) if found is None else found
            found[number] = one
        assert found is not None  # noqa: S101  there is at least one draw
        return found.transpose(0, 1)

    return run


def _pass(blocks: Sequence[Block], layers: Sequence[Thinned], inputs: Tensor, base: Tensor | None) -> Tensor:
    """The outputs under one draw; `base` is what the first layer gives before anything is subtracted."""
    current = inputs
    for block, layer in zip(blocks, layers, strict=True):
        if layer.inputs is not None:
            current = _pick(current.flatten(1) if _is_flat(block.mask) else current, layer.inputs)
        current = _apply(block.layer, _steps(block.between, current), layer.weight, layer.bias)
        if base is not None:
            current += base if layer.outputs is None else _pick(base, layer.outputs)
            base = None
        current = _steps(block.after, current)
    return current


def _cuts(block: Block, following: Block) -> bool:
    """Whether the outputs of a layer that the next mask drops can be left out."""
    if following.mask is None:
        return False
    return isinstance(block.layer, Dense) or not _is_flat(following.mask)


def _is_flat(mask: Mask | None) -> bool:
    return mask is not None and len(mask.shape) == 1


def _weights(layer: Convolve | Dense) -> tuple[Tensor, Tensor | None]:
    """Weight [E, D, ...] and bias [E]."""
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, Tensor)  # noqa: S101  blocks_of sees to it
    assert not isinstance(bias, str)  # noqa: S101
    return (weight.t() if isinstance(layer, Dense) else weight), bias


def _thin(
    layer: tuple[Tensor, Tensor | None],
    mask: Tensor | None,
    outputs: Tensor | None,
    *,
    picks: bool,
    has_bias: bool,
) -> Thinned:
    """A layer from the inputs where its mask is not zero, with the mask's values in its weights."""
    weight, bias = layer
    bias = bias if has_bias else None
    if outputs is not None:
        weight = weight.index_select(0, outputs)
        bias = None if bias is None else bias.index_select(0, outputs)
    if mask is None:
        return Thinned(None, outputs, weight, bias)
    inputs = _kept(mask)
    each = weight.shape[1] // len(mask)  # pixels of a channel, where a dense layer reads them all
    columns = (inputs.unsqueeze(1) * each + torch.arange(each, device=inputs.device)).flatten()
    scales = mask[inputs].repeat_interleave(each)
    weight = weight.index_select(1, columns) * scales.view(-1, *[1] * (weight.ndim - 2))
    return Thinned(inputs if picks else None, outputs, channels_last(weight), bias)


def _kept(mask: Tensor) -> Tensor:
    """Positions where a mask is not zero; the first, whose weights are then zero, if there are none."""
    found = mask.nonzero()[:, 0]
    return found if len(found) else found.new_zeros(1)


def _apply(layer: Convolve | Dense, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if isinstance(layer, Dense):
        return torch.nn.functional.linear(inputs.flatten(1), weight, bias)
    return layer(inputs, weight, bias)


def _pick(values: Tensor, channels: Tensor) -> Tensor:
    """Some channels; as columns of a matrix where they are last in memory, measured three times as fast."""
    last = values.movedim(1, -1)
    if values.ndim == 2 or not last.is_contiguous():
        return values.index_select(1, channels)
    picked = last.flatten(0, -2).index_select(1, channels)
    return picked.view(*last.shape[:-1], len(channels)).movedim(-1, 1)


def _overwrites(steps: Sequence[Activate | Pool]) -> bool:
    """Whether the first of some steps may write to the value that it is given."""
    return bool(steps) and isinstance(steps[0], Activate)


def _steps(steps: Sequence[Activate | Pool], value: Tensor) -> Tensor:
    for step in steps:
        value = step(value)
    return value

"""Convolutions and dense layers under dropout of whole channels, computed on the kept channels alone.

A convolution need not read a channel that is dropped, nor compute one that the next mask drops: where
half of them are, a quarter of the work is left. Pooling and relu commute with such a mask, so those
between the first mask and its layer run once for all draws. A first convolution with a large kernel is
computed for all draws at once (`channel_sums`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from askwise.bayes.program import channel_sums
from askwise.bayes.program.chain import Activate, Chain, Convolve, Dense, Mask, Pool, through
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
    blocks: Sequence[Block],
    drawn: Mapping[str, Tensor],
    *,
    count: int,
    budget: int,
) -> Callable[[Tensor], Tensor]:
    """From the source [n, C, ...] to the outputs [n, T, E], under masks that fit."""
    masks = [None if block.mask is None else drawn[block.mask.name].reshape(count, -1) for block in blocks]
    first, start = blocks[0], masks[0]
    assert first.mask is not None and start is not None  # noqa: S101, PT018  blocks_of sees to it
    if isinstance(first.layer, Convolve):
        following = blocks[1]  # a chain ends with a dense layer
        after = (*first.after, *following.between)
        item = through(first.between, torch.empty(1, *first.mask.shape, device="meta"))
        wanted = _share(masks[1]) if _cuts(first, following) else 1.0
        if rows := channel_sums.room(first.layer, start, wanted=wanted, item=item, after=after):
            sums = channel_sums.bind(first.layer, start, after=after, rows=rows)
            rest = [replace(following, between=()), *blocks[2:]]
            behind = _layers(rest, masks[1:], None, count=count, budget=budget)
            return _summed(first.between, sums, rest, behind, count=count)
    # Where less than half is dropped, what the dropped channels give is subtracted from what all give.
    whole = float(start.max()) if _share(start) > 0.5 else None
    layers = _layers(blocks, masks, whole, count=count, budget=budget)
    own_part = [replace(first, between=()), *blocks[1:]]
    weight, bias = _weights(first.layer)

    def run(source: Tensor) -> Tensor:
        shared = _shared(first.between, source)
        base = None if whole is None else _apply(first.layer, shared, weight * whole, bias)
        return _stacked(count, lambda number: _pass(own_part, layers(number), shared, base))

    return run


def _summed(
    between: Sequence[Activate | Pool],
    sums: Callable[[Tensor], Iterable[Tensor]],
    rest: Sequence[Block],
    layers: Callable[[int], Sequence[Thinned]],
    *,
    count: int,
) -> Callable[[Tensor], Tensor]:
    """The first layer for all draws at once, the blocks behind it for every draw; a few items at a time."""

    def run(source: Tensor) -> Tensor:
        return torch.cat(
            [
                _stacked(count, lambda number: _pass(rest, layers(number), part[number], None))  # noqa: B023  called at once
                for part in sums(_shared(between, source))
            ]
        )

    return run


def _stacked(count: int, outputs: Callable[[int], Tensor]) -> Tensor:
    """The outputs [n, T, ...] of all draws; filled one by one, since stacking would hold them twice."""
    first = outputs(0)
    found = first.new_empty(count, *first.shape)
    found[0] = first
    for number in range(1, count):
        found[number] = outputs(number)
    return found.transpose(0, 1)


def _layers(
    blocks: Sequence[Block],
    masks: Sequence[Tensor | None],
    whole: float | None,
    *,
    count: int,
    budget: int,
) -> Callable[[int], Sequence[Thinned]]:
    """The layers under a draw, kept for all draws where they fit the budget.

    With `whole`, the scale of what the first mask keeps, the first layer is what a draw subtracts.
    """
    weights = [_weights(block.layer) for block in blocks]
    cut = [_cuts(one, other) for one, other in pairwise(blocks)]  # whether a mask decides what is computed

    def thinned(number: int) -> list[Thinned]:
        own = [None if mask is None else mask[number] for mask in masks]
        outputs = [
            _kept(mask) if cuts and mask is not None else None
            for cuts, mask in zip(cut, own[1:], strict=True)
        ]
        if whole is not None and own[0] is not None:
            own[0] = own[0] - whole
        return [
            _thin(layer, mask, rows, picks=not at or not cut[at - 1], has_bias=bool(at) or whole is None)
            for at, (layer, mask, rows) in enumerate(zip(weights, own, [*outputs, None], strict=True))
        ]

    size = sum(one.weight.numel() * one.weight.element_size() for one in thinned(0))
    known = list(map(thinned, range(count))) if count * size <= budget else None
    return known.__getitem__ if known else thinned


def _pass(blocks: Sequence[Block], layers: Sequence[Thinned], inputs: Tensor, base: Tensor | None) -> Tensor:
    """The outputs under one draw; `base` is what the first layer gives before anything is subtracted."""
    current = inputs
    for block, layer in zip(blocks, layers, strict=True):
        if layer.inputs is not None:
            current = _pick(current.flatten(1) if _is_flat(block.mask) else current, layer.inputs)
        current = _apply(block.layer, through(block.between, current), layer.weight, layer.bias)
        if base is not None:
            current += base if layer.outputs is None else _pick(base, layer.outputs)
            base = None
        current = through(block.after, current)
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


def _shared(steps: Sequence[Activate | Pool], source: Tensor) -> Tensor:
    """The source after the steps that all draws share; the source itself stays as it is."""
    return through(steps, source.clone() if steps and isinstance(steps[0], Activate) else source)


def _share(mask: Tensor | None) -> float:
    """The share that a mask keeps."""
    return 1.0 if mask is None else float((mask != 0).float().mean())

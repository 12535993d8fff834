"""A dense chain under drawn weights: the first layer of all draws is one matrix product.

The items are in the last axis, so that every later reduction runs over contiguous memory.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from askwise.bayes.program.chain import Activate, Chain, Dense, Flat, Mask
from askwise.bayes.program.products import product


def bind(chain: Chain, drawn: Mapping[str, Tensor], *, count: int, budget: int) -> Callable[[Tensor], Tensor]:
    """From the source [n, ...] to the outputs [n, T, C], all draws of a chunk at once."""
    ready = {name: value for step in chain.flat for name, value in _ready(step, drawn).items()}

    def run(start: int, stop: int, source: Tensor) -> Tensor:
        current = source.unsqueeze(0)  # [t or 1, D, n]
        for step in chain.flat:
            if isinstance(step, Mask):
                current = current * ready[step.name][start:stop]
            elif isinstance(step, Activate):
                current = step(current)
            else:
                current = _affine(
                    _part(step.weight, ready, start, stop), _part(step.bias, ready, start, stop), current
                )
        return current

    widths = [_width(step, drawn) for step in chain.flat]

    def outputs(source: Tensor) -> Tensor:
        flat = source.flatten(1).t().contiguous()
        chunk = max(1, budget // (3 * max(*widths, len(flat)) * flat.shape[1] * flat.element_size()))
        parts = [run(start, min(start + chunk, count), flat) for start in range(0, count, chunk)]
        return (parts[0] if len(parts) == 1 else torch.cat(parts)).permute(2, 0, 1)

    return outputs


def _ready(step: Flat, drawn: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Drawn values as the products want them: weights [T, E, D], biases [T, E, 1], masks [T, D, 1]."""
    if isinstance(step, Mask):
        return {step.name: flat_mask(step, drawn).unsqueeze(-1)}
    if isinstance(step, Activate):
        return {}
    ready = {}
    if isinstance(step.weight, str):
        ready[step.weight] = drawn[step.weight].mT.contiguous()
    if isinstance(step.bias, str):
        ready[step.bias] = drawn[step.bias].unsqueeze(-1)
    return ready


def flat_mask(step: Mask, drawn: Mapping[str, Tensor]) -> Tensor:
    """A drawn mask [T, 1, ...] as [T, D], in the order of the flattened item."""
    mask = drawn[step.name]
    return mask.expand(len(mask), 1, *step.shape).reshape(len(mask), -1)


def _part(value: Tensor | str | None, ready: Mapping[str, Tensor], start: int, stop: int) -> Tensor | None:
    """The draws from start to stop of a drawn value, or a fixed one with a draw axis of one."""
    if value is None:
        return None
    if isinstance(value, str):
        return ready[value][start:stop]
    return value.t().unsqueeze(0) if value.ndim == 2 else value.view(1, -1, 1)


def _affine(weight: Tensor | None, bias: Tensor | None, current: Tensor) -> Tensor:
    """Weight [t or 1, E, D] times current [t or 1, D, n], plus bias [t or 1, E, 1]."""
    assert weight is not None  # noqa: S101  a dense step always has one
    if len(current) == 1:  # the same input for every draw: one product
        t, e, d = weight.shape
        found = product(weight.reshape(t * e, d), current[0]).view(t, e, -1)
    else:
        found = weight @ current
    return found if bias is None else found + bias


def _width(step: Flat, drawn: Mapping[str, Tensor]) -> int:
    if not isinstance(step, Dense):
        return 0
    return int((drawn[step.weight] if isinstance(step.weight, str) else step.weight).shape[-1])

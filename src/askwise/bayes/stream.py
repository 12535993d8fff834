"""Predictive distributions of any number of items, streamed through one program in little memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from askwise.bayes import dropout
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import distinct, home
from askwise.bayes.program import BUDGET, Program, build
from askwise.bayes.trace import outputs_of, tensors_of
from askwise.errors import InputError, positive
from askwise.math.links import log_softmax
from askwise.types import Draws

Inputs: TypeAlias = Tensor | NDArray[Any]
"""Items [N, ...] in memory or memory-mapped: only a batch at a time is read."""

_COPIES = 8  # of a slab of outputs, at most, while it is reduced


@dataclass(frozen=True)
class Block:
    """The predictive distribution of some items, or of some rows of their sites, padded to full batches."""

    items: slice
    rows: slice
    """Which of the first sites these are; all of them where a task's sites are not cut."""
    last: bool
    """Whether the rows of these items end here."""
    found: Tensor

    @property
    def count(self) -> int:
        """How many items there are without the padding."""
        return int(self.items.stop - self.items.start)


def blocks(fitted: Fitted, inputs: Inputs, *, draws: int, seed: int, whole: bool = False) -> Iterator[Block]:
    """The predictive distributions of all items, one block of them after the other.

    A block is one batch. Where the draws themselves exceed the budget they are made anew in chunks,
    and a block is as many batches as it takes to make that worth while. Where even one item's
    predictions are large they come row by row, unless they are wanted `whole`.
    """
    draws = distinct(fitted.posterior, positive("draws", draws))
    check_inputs(inputs)
    program, make = _program(fitted, take(fitted, inputs, 0, 1), draws, seed)
    chunks = _chunks(make(range(1)), draws)
    once = program.bind(make(chunks[0])) if len(chunks) == 1 else None
    size = program.batch if once is not None else program.batch * program.block
    for start in range(0, len(inputs), size):
        stop = min(start + size, len(inputs))
        with torch.no_grad():
            parts = []
            for numbers in chunks:
                run = once if once is not None else program.bind(make(numbers))
                parts.append(
                    _joined([run(items) for items in _batches(fitted, inputs, start, stop, program.batch)])
                )
            outputs = _joined(parts, dim=1)
            del parts  # outputs can be large
        for rows, slab, last in _slabs(outputs, None if whole else fitted.task.rows):
            with torch.no_grad():
                here = tempered(fitted.task.predictive(slab), fitted.temperature)
                _refuse_nan(here, start)
            yield Block(slice(start, stop), rows, last, here)
        del outputs, slab, here  # before the next are made


def stream(
    fitted: Fitted,
    inputs: Inputs,
    reduce: Callable[[Tensor], tuple[Tensor, ...]],
    *,
    draws: int,
    seed: int,
    finish: Callable[[Tensor], Tensor] = lambda part: part,
) -> tuple[Tensor, ...]:
    """`finish` of `reduce` of the predictive distributions of all items, one block after the other.

    `reduce` gives tensors [n, *sites, ...], whose rows `finish` sees together. Padding is cut off
    last: a shorter tensor would be computed by other instructions, with other last bits.
    """
    found: list[list[Tensor]] = []
    rows: list[tuple[Tensor, ...]] = []
    for block in blocks(fitted, inputs, draws=draws, seed=seed):
        with torch.no_grad():
            rows.append(reduce(block.found))
            if block.last:
                whole = [finish(_joined(list(parts), dim=1)) for parts in zip(*rows, strict=True)]
                found.append([part[: block.count] for part in whole])
                rows = []
    return tuple(_joined(list(parts)) for parts in zip(*found, strict=True))


def tempered(predictive: Tensor, temperature: float) -> Tensor:
    """Log-probabilities of every draw divided by the temperature, and normalised again.

    For a softmax that is dividing its logits; other links are tempered the same way. A temperature
    of 1, the only one there is without classes, changes nothing, to the bit.
    """
    return predictive if temperature == 1 else log_softmax(predictive / temperature)


def check_inputs(inputs: object) -> None:
    """An error unless there is at least one item in a tensor or an array."""
    if not isinstance(inputs, Tensor | np.ndarray):
        raise InputError(f"inputs must be a tensor or an array [N, ...], not {type(inputs).__name__}")
    if inputs.ndim == 0 or len(inputs) == 0:
        raise InputError(f"inputs must hold at least one item [N, ...]; their shape is {list(inputs.shape)}")


def take(fitted: Fitted, inputs: Inputs, start: int, stop: int, *, pad: int = 0) -> Tensor:
    """Items from start to stop on the model's device, the last one repeated up to `pad` items.

    A batch always has one size, so that an item's bits do not depend on its company.
    """
    part = inputs[start:stop]
    items = part if isinstance(part, Tensor) else torch.from_numpy(np.array(part))
    missing = pad - len(items)
    if missing > 0:
        items = torch.cat([items, items[-1:].expand(missing, *items.shape[1:])])
    return items.to(next(iter(tensors_of(fitted.network).values())).device)


def _slabs(outputs: Tensor, axis: int | None) -> Iterator[tuple[slice, Tensor, bool]]:
    """The outputs, cut along an axis into pieces that can be reduced within the budget."""
    if axis is None:
        yield slice(None), outputs, True
        return
    count = outputs.shape[axis]
    step = max(1, count * (BUDGET // _COPIES) // (outputs.numel() * outputs.element_size()))
    for start in range(0, count, step):
        stop = min(start + step, count)
        yield slice(start, stop), outputs.narrow(axis, start, stop - start), stop == count


def _program(fitted: Fitted, item: Tensor, draws: int, seed: int) -> tuple[Program, Callable[[range], Draws]]:
    """The program for items like this one, built once per model, and the maker of its draws."""
    network, posterior = fitted.network, fitted.posterior
    outputs_of(network, item)
    sites = dropout.find(network, item) if posterior.dropout else ()

    def make(numbers: range) -> Draws:
        made: Draws = home(posterior).draw(
            network, posterior, fitted.state, numbers=numbers, seed=seed, sites=sites
        )
        return {name: tensor.to(item.device) for name, tensor in made.items()}

    key = (tuple(item.shape), item.dtype, draws)
    if key not in fitted.programs:
        fitted.programs[key] = build(network, item, make(range(2)), sites=sites, count=draws)
    return fitted.programs[key], make


def _chunks(one: Draws, draws: int) -> list[range]:
    """The draws in ranges that fit the budget together with the copies that products need."""
    size = sum(2 * tensor.numel() * tensor.element_size() for tensor in one.values())
    step = max(1, BUDGET // max(1, size))
    return [range(start, min(start + step, draws)) for start in range(0, draws, step)]


def _batches(fitted: Fitted, inputs: Inputs, start: int, stop: int, size: int) -> Iterator[Tensor]:
    for at in range(start, stop, size):
        yield take(fitted, inputs, at, min(at + size, stop), pad=size)


def _joined(parts: list[Tensor], dim: int = 0) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def _refuse_nan(found: Tensor, start: int) -> None:
    bad = found.flatten(1).isnan().any(dim=1).nonzero()
    if len(bad):
        raise InputError(
            f"the network's output for the item at position {start + int(bad[0])} is not a number; "
            "look at that input"
        )

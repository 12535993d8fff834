"""A model made ready to predict: its program, its draws, and predictive distributions block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from numpy.typing import NDArray
from torch import Tensor

from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import WeightByWeight
from askwise.bayes.program import dropout, gaussian_logits
from askwise.bayes.program.build import BUDGET, Outputs, Program, build
from askwise.bayes.program.trace import as_taken, outputs_of, tensors_of
from askwise.errors import InputError, choose, positive
from askwise.inputs import Inputs, Rows, as_rows, read
from askwise.math.links import log_softmax
from askwise.seeding import torch_alone
from askwise.types import Draws

DRAWN = ("weights", "logits")
"""What is drawn: T networks, the same for all items; or the logits of a Gaussian last layer, by item."""

AnyRows: TypeAlias = Tensor | NDArray[Any] | Rows

_COPIES = 8  # of a slab of outputs, at most, while it is reduced
_CACHE = 2**18  # bytes of outputs that are reduced fastest
_LEAST = 32  # items at a time: fewer do not fill the processor's lanes


@dataclass(frozen=True)
class Block:
    """The predictive distribution of some items, or of some rows of their sites, padded to full batches."""

    items: slice
    """Positions among all items."""
    rows: slice
    """Which of the first sites these are; all of them where a task's sites are not cut."""
    last: bool
    """Whether the rows of these items end here."""
    found: Tensor

    @property
    def count(self) -> int:
        """How many items there are without the padding."""
        return int(self.items.stop - self.items.start)


class Ready:
    """A model made ready to predict items like one of them under some draws."""

    def __init__(self, fitted: Fitted, item: Tensor, *, draws: int, seed: int, draw: str = "weights") -> None:
        self.fitted = fitted
        self.program, self._make = program_of(fitted, item, fitted.posterior.distinct(draws), seed)
        if choose("kind of draw", draw, DRAWN) == "logits":
            self._chunks: list[range] = [range(draws)]
            with torch_alone(), torch.no_grad():
                self._once: Outputs | None = _closed_form(fitted, self.program, item, draws, seed)
            return
        self._chunks = chunked(self._make(range(1)), fitted.posterior.distinct(draws))
        with torch_alone(), torch.no_grad():
            self._once = self.program.bind(self._make(self._chunks[0])) if len(self._chunks) == 1 else None

    @property
    def size(self) -> int:
        """How many items make a block."""
        return block_size(self.program, self._chunks)

    def blocks(self, inputs: AnyRows, *, first: int = 0, whole: bool = False) -> Iterator[Block]:
        """The predictive distributions of all items, one block of them after the other.

        A block is one batch, or a part of it that fits the processor's cache. Where the draws
        themselves exceed the budget they are made anew in chunks, and as many batches are run at a
        time as it takes to make that worth while. Where even one item's predictions are large they
        come row by row, unless they are wanted `whole`. In errors the items are counted from `first`.
        """
        fitted, batch = self.fitted, self.program.batch
        for start in range(0, len(inputs), self.size):
            stop = min(start + self.size, len(inputs))
            with torch_alone(), torch.no_grad():
                parts = []
                for numbers in self._chunks:
                    run = self._once if self._once is not None else self.program.bind(self._make(numbers))
                    parts.append(
                        joined([run(items) for items in _batches(fitted, inputs, start, stop, batch)])
                    )
                outputs = joined(parts, dim=1)
                del parts  # outputs can be large
            axis = None if whole else fitted.task.rows
            step = _step(outputs) if axis is None and not whole else len(outputs)
            for at in range(start, stop, step):
                some = outputs[at - start : at - start + step]
                for rows, slab, last in _slabs(some, axis):
                    with torch.no_grad():
                        here = tempered(fitted.task.predictive(slab), fitted.temperature)
                        _refuse_nan(here, first + at)
                    yield Block(slice(first + at, first + min(at + step, stop)), rows, last, here)
            del outputs, some, slab, here  # before the next are made


def blocks(fitted: Fitted, inputs: Inputs, *, draws: int, seed: int) -> Iterator[Block]:
    """The predictive distributions of all items, one block after the other, in this process."""
    rows = as_rows(inputs)
    return Ready(fitted, take(fitted, rows, 0, 1), draws=positive("draws", draws), seed=seed).blocks(rows)


def tempered(predictive: Tensor, temperature: float) -> Tensor:
    """Log-probabilities of every draw divided by the temperature, and normalised again.

    For a softmax that is dividing its logits; other links are tempered the same way. A temperature
    of 1, the only one there is without classes, changes nothing, to the bit.
    """
    return predictive if temperature == 1 else log_softmax(predictive / temperature)


def take(fitted: Fitted, inputs: AnyRows, start: int, stop: int, *, pad: int = 0) -> Tensor:
    """Items from start to stop as the model takes them, the last one repeated up to `pad` items.

    A batch always has one size, so that outputs are bitwise independent of the rest of the batch.
    """
    items = as_taken(fitted.network, read(inputs, start, stop))
    missing = pad - len(items)
    return torch.cat([items, items[-1:].expand(missing, *items.shape[1:])]) if missing > 0 else items


def program_of(
    fitted: Fitted, item: Tensor, draws: int, seed: int
) -> tuple[Program, Callable[[range], Draws]]:
    """The program for items like this one, built once per model, and the maker of its draws."""
    network, posterior = fitted.network, fitted.posterior
    key = (tuple(item.shape), item.dtype, draws)
    with torch_alone():
        if key not in fitted.programs:
            outputs_of(network, item)
        dropouts = dropout.find(network, item) if posterior.dropout else ()

        def make(numbers: range) -> Draws:
            with torch_alone():  # while another thread traces, the network has other tensors than its own
                made = posterior.draw(network, fitted.state, numbers=numbers, seed=seed, dropouts=dropouts)
            return {name: tensor.to(item.device) for name, tensor in made.items()}

        if key not in fitted.programs:
            fitted.programs[key] = build(network, item, make(range(2)), dropouts=dropouts, count=draws)
    return fitted.programs[key], make


def chunked(one: Draws, draws: int) -> list[range]:
    """The draws in ranges that fit the budget together with the copies that products need."""
    size = sum(2 * tensor.numel() * tensor.element_size() for tensor in one.values())
    step = max(1, BUDGET // max(1, size))
    return [range(start, min(start + step, draws)) for start in range(0, draws, step)]


def block_size(program: Program, chunks: list[range]) -> int:
    """How many items make a block: more than a batch where draws are made anew for each."""
    return program.batch * (1 if len(chunks) == 1 else program.block)


def joined(parts: list[Tensor], dim: int = 0) -> Tensor:
    """The parts as one tensor; a single one as it is."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def _closed_form(fitted: Fitted, program: Program, item: Tensor, draws: int, seed: int) -> Outputs:
    """The logits of a mean-field Gaussian last layer, drawn; refused where that is not what there is."""
    posterior, network = fitted.posterior, fitted.network
    if not isinstance(posterior, WeightByWeight) or program.logits is None or posterior.dropout:
        raise InputError(
            "logits are drawn where the last layer alone is Gaussian, weight by weight, as with bbb(last=1); "
            f"this is {posterior.name}: draw weights"
        )
    tensors = tensors_of(network)
    stds = {name: std.to(item.device) for name, std in posterior.stds(tensors, fitted.state).items()}
    means = {name: tensors[name].detach() for name in stds}
    shared = gaussian_logits.noise(draws, outputs_of(network, item).shape[-1], seed=seed)
    return program.logits(means, stds, shared.to(item.device))


def _step(outputs: Tensor) -> int:
    """How many items are reduced together: all, or a power of two whose outputs stay in the cache.

    Measured under 100 and 1,000 draws of ten classes: two to three times faster than all at once.
    """
    each = outputs[0].numel() * outputs.element_size()
    fit = 1 << (max(_LEAST, _CACHE // max(1, each)).bit_length() - 1)
    return min(len(outputs), fit)


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


def _batches(fitted: Fitted, inputs: AnyRows, start: int, stop: int, size: int) -> Iterator[Tensor]:
    for at in range(start, stop, size):
        yield take(fitted, inputs, at, min(at + size, stop), pad=size)


def _refuse_nan(found: Tensor, start: int) -> None:
    if not bool(found.sum().isnan()):  # one pass; infinities of both signs make it look closer for nothing
        return
    bad = found.flatten(1).isnan().any(dim=1).nonzero()
    if len(bad):
        raise InputError(
            f"the network's output for the item at position {start + int(bad[0])} is not a number; "
            "look at that input"
        )

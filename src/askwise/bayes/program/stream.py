"""Predictive distributions of any number of items, streamed through one program in little memory."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from numpy.typing import NDArray
from torch import Tensor

from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.posteriors import WeightByWeight
from askwise.bayes.program import dropout, gaussian_logits
from askwise.bayes.program.build import BATCH, BUDGET, Outputs, Program, build
from askwise.bayes.program.trace import as_taken, outputs_of, tensors_of
from askwise.engine import Engine, Local, ShardResult, Work
from askwise.errors import InputError, choose, positive
from askwise.inputs import Inputs, Rows, as_rows, read
from askwise.math.links import log_softmax
from askwise.seeding import torch_alone
from askwise.train.progress import Follow, meter
from askwise.types import Draws

DRAWN = ("weights", "logits")
"""What is drawn: T networks, the same for all items; or the logits of a Gaussian last layer, by item."""


AnyRows: TypeAlias = Tensor | NDArray[Any] | Rows

_MOST_DRAWS = 1_000_000
_COPIES = 8  # of a slab of outputs, at most, while it is reduced
_CACHE = 2**18  # bytes of outputs that are reduced fastest
_LEAST = 32  # items at a time: fewer do not fill the processor's lanes
_WORTH = 256  # small items that are worth a process
_TURNS = 8  # shards for each worker, at least, where there are many items
_ITEMS = 4096  # in a shard, at most
_BYTES = 16 * 2**20  # of inputs in a shard
_LARGE = 8 * 2**20  # bytes of one batch's outputs that are not worth sending


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
        self.program, self._make = _program(fitted, item, fitted.posterior.distinct(draws), seed)
        if choose("kind of draw", draw, DRAWN) == "logits":
            self._chunks: list[range] = [range(draws)]
            with torch_alone(), torch.no_grad():
                self._once: Outputs | None = _closed_form(fitted, self.program, item, draws, seed)
            return
        self._chunks = _chunks(self._make(range(1)), fitted.posterior.distinct(draws))
        with torch_alone(), torch.no_grad():
            self._once = self.program.bind(self._make(self._chunks[0])) if len(self._chunks) == 1 else None

    @property
    def size(self) -> int:
        """How many items make a block."""
        return _block(self.program, self._chunks)

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
                        _joined([run(items) for items in _batches(fitted, inputs, start, stop, batch)])
                    )
                outputs = _joined(parts, dim=1)
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


@dataclass(frozen=True)
class Reduction:
    """What is kept of the predictive distributions of some items.

    `reduce` gives tensors [n, *sites, ...], whose rows `finish` sees together. `whole` wants all rows
    of an item at once, however large they are. What looks at one item at a time may draw logits.
    """

    reduce: Callable[[Block], tuple[Tensor, ...]]
    finish: Callable[[Tensor], Tensor] = lambda part: part
    whole: bool = False
    draw: str = "weights"

    def of(self, ready: Ready, inputs: AnyRows, *, first: int = 0) -> tuple[Tensor, ...]:
        """What is kept of all these items.

        Padding is cut off last: a shorter tensor would be computed by other instructions, with other
        last bits.
        """
        found: list[list[Tensor]] = []
        rows: list[tuple[Tensor, ...]] = []
        for block in ready.blocks(inputs, first=first, whole=self.whole):
            with torch.no_grad():
                rows.append(self.reduce(block))
                if block.last:
                    whole = [self.finish(_joined(list(parts), dim=1)) for parts in zip(*rows, strict=True)]
                    found.append([part.contiguous()[: block.count] for part in whole])
                    rows = []
        return tuple(_joined(list(parts)) for parts in zip(*found, strict=True))


def stream(fitted: Fitted, inputs: Inputs, reduction: Reduction, **how: Any) -> tuple[Tensor, ...]:
    """What a reduction keeps of all items, joined; `how` as `shards` takes it."""
    found = [kept for _, kept in shards(fitted, inputs, reduction, **how)]
    return tuple(_joined(list(parts)) for parts in zip(*found, strict=True))


def shards(
    fitted: Fitted,
    inputs: Inputs,
    reduction: Reduction,
    *,
    draws: int,
    seed: int,
    engine: Engine | None = None,
    progress: Follow = False,
    doing: str = "predicting",
) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
    """What a reduction keeps of some items after the other; the engine (by default all cores) computes it."""
    fitted, rows = as_fitted(fitted), as_rows(inputs)
    item = take(fitted, rows, 0, 1)
    if positive("draws", draws) > _MOST_DRAWS:
        raise InputError(f"draws = {draws} cannot be meant; at most {_MOST_DRAWS:,} are made")

    count = fitted.posterior.distinct(draws)
    program, drawn = _program(fitted, item, count, seed)
    engine = _engine(engine, item, program, whole=reduction.whole)
    # Few items that take long are shared out evenly, though each worker then makes the draws for itself.
    even = program.batch * math.ceil(len(rows) / (program.batch * engine.workers))
    block = min(_block(program, _chunks(drawn(range(1)), count)), even)
    worth = _WORTH if program.light else 1
    size = shard_size(len(rows), item, block=block, turns=_TURNS * engine.workers, worth=worth)
    spans = [[at, min(at + size, len(rows))] for at in range(0, len(rows), size)]
    work = working(
        fitted, item, reduction, lambda span: Fetched(read(rows, *span), span[0]), draws=draws, seed=seed
    )
    with meter(len(rows), doing, unit="items", show=progress) as advance:
        for (start, stop), one in zip(spans, engine.map(work, spans), strict=True):
            yield slice(start, stop), tuple(tensor.to(item.device) for tensor in one.tensors)
            advance(stop - start)


@dataclass(frozen=True)
class Fetched:
    """The items of a shard, the position of the first in messages, and notes that go with the results."""

    items: Tensor
    first: int = 0
    notes: dict[str, Any] = field(default_factory=dict)


def working(
    fitted: Fitted,
    item: Tensor,
    reduction: Reduction,
    fetch: Callable[[list[Any]], Fetched],
    *,
    draws: int,
    seed: int,
) -> Callable[[], Work]:
    """What an engine does with every shard: fetch its items, and keep what the reduction keeps of them.

    `item` [1, ...] is one like them. A shard whose items cannot be read has notes and nothing kept.
    """

    def make() -> Work:
        ready = Ready(fitted, item, draws=draws, seed=seed, draw=reduction.draw)

        def compute(fetched: Fetched) -> ShardResult:
            kept = reduction.of(ready, fetched.items, first=fetched.first) if len(fetched.items) else ()
            return ShardResult(kept, fetched.notes)

        return Work(fetch, compute)

    return make


def shard_size(count: int, item: Tensor, *, block: int, turns: int, worth: int = _WORTH) -> int:
    """How many items go to a worker at a time: full blocks, about `turns` shards, and not too many bytes.

    Fewer small items than `worth` are not worth a process.
    """
    fair = math.ceil(count / (turns * block)) * block  # some turns each: all workers end together
    fit = max(1, _BYTES // max(1, item.numel() * item.element_size() * block)) * block
    least = worth if block >= BATCH else block
    return max(block, min(max(fair, least), _ITEMS, fit))


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


def _engine(wanted: Engine | None, item: Tensor, program: Program, *, whole: bool) -> Engine:
    """The engine to use: that of this process alone where results are large or the items on a device."""
    if item.device.type != "cpu":
        return Local(processes=1, threads=torch.get_num_threads())
    if whole and program.outputs > _LARGE:
        return Local(processes=1)
    return wanted or Local()


def _block(program: Program, chunks: list[range]) -> int:
    """How many items make a block: more than a batch where draws are made anew for each."""
    return program.batch * (1 if len(chunks) == 1 else program.block)


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


def _program(fitted: Fitted, item: Tensor, draws: int, seed: int) -> tuple[Program, Callable[[range], Draws]]:
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


def _chunks(one: Draws, draws: int) -> list[range]:
    """The draws in ranges that fit the budget together with the copies that products need."""
    size = sum(2 * tensor.numel() * tensor.element_size() for tensor in one.values())
    step = max(1, BUDGET // max(1, size))
    return [range(start, min(start + step, draws)) for start in range(0, draws, step)]


def _batches(fitted: Fitted, inputs: AnyRows, start: int, stop: int, size: int) -> Iterator[Tensor]:
    for at in range(start, stop, size):
        yield take(fitted, inputs, at, min(at + size, stop), pad=size)


def _joined(parts: list[Tensor], dim: int = 0) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def _refuse_nan(found: Tensor, start: int) -> None:
    if not bool(found.sum().isnan()):  # one pass; infinities of both signs make it look closer for nothing
        return
    bad = found.flatten(1).isnan().any(dim=1).nonzero()
    if len(bad):
        raise InputError(
            f"the network's output for the item at position {start + int(bad[0])} is not a number; "
            "look at that input"
        )

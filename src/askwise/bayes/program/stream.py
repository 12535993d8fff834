"""Predictive distributions of any number of items, streamed through one program in little memory."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.program.build import BATCH, Program
from askwise.bayes.program.ready import AnyRows, Block, Ready, block_size, chunked, joined, program_of, take
from askwise.engine import Engine, Local, ShardResult, Work
from askwise.errors import InputError, positive
from askwise.inputs import Inputs, as_rows, read
from askwise.train.progress import Follow, meter

_MOST_DRAWS = 1_000_000
_WORTH = 256  # small items that are worth a process
_TURNS = 8  # shards for each worker, at least, where there are many items
_ITEMS = 4096  # in a shard, at most
_BYTES = 16 * 2**20  # of inputs in a shard
_LARGE = 8 * 2**20  # bytes of one batch's outputs that are not worth sending


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
                    whole = [self.finish(joined(list(parts), dim=1)) for parts in zip(*rows, strict=True)]
                    found.append([part.contiguous()[: block.count] for part in whole])
                    rows = []
        return tuple(joined(list(parts)) for parts in zip(*found, strict=True))


def stream(fitted: Fitted, inputs: Inputs, reduction: Reduction, **how: Any) -> tuple[Tensor, ...]:
    """What a reduction keeps of all items, joined; `how` as `shards` takes it."""
    found = [kept for _, kept in shards(fitted, inputs, reduction, **how)]
    return tuple(joined(list(parts)) for parts in zip(*found, strict=True))


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
    program, drawn = program_of(fitted, item, count, seed)
    engine = _engine(engine, item, program, whole=reduction.whole)
    # Few items that take long are shared out evenly, though each worker then makes the draws for itself.
    even = program.batch * math.ceil(len(rows) / (program.batch * engine.workers))
    block = min(block_size(program, chunked(drawn(range(1)), count)), even)
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


def _engine(wanted: Engine | None, item: Tensor, program: Program, *, whole: bool) -> Engine:
    """The engine to use: that of this process alone where results are large or the items on a device."""
    if item.device.type != "cpu":
        return Local(processes=1, threads=torch.get_num_threads())
    if whole and program.outputs > _LARGE:
        return Local(processes=1)
    return wanted or Local()

"""The one way to predict: what does not depend on a draw runs once, the rest runs T times.

A program is built for one network, one shape of item and one set of drawn tensors. Whatever form
its suffix takes (one matrix product, a masked chain, vmap, a loop), the outputs are those
of T plain passes with the same draws; the tests hold every form to that.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx, nn
from torch.func import vmap

from askwise.bayes.program import chain, channel_masks, dense_draws, dense_masks, gaussian_logits
from askwise.bayes.program.dropout import masked
from askwise.bayes.program.known import Memory
from askwise.bayes.program.split import Split, Stage, split
from askwise.bayes.program.trace import (
    INPUT,
    DropoutCall,
    UntraceableError,
    call,
    channels_last,
    predicting,
    tensors_of,
    trace,
)
from askwise.errors import SlowPathWarning
from askwise.types import Draws

BATCH = 128  # measured: larger batches leave the cache, smaller ones starve the products
BUDGET = 256 * 2**20  # bytes of working memory for one batch
_NEAR = 24 * 2**20  # bytes that vmap works on at a time; measured: twice as fast as the whole budget
_SMALL = 8 * 2**20  # bytes of a batch of inputs that is run without asking what it needs
_CUTS = Memory()

Values: TypeAlias = Mapping[str, Tensor]
Outputs: TypeAlias = Callable[[Tensor], Tensor]
"""From one padded batch of items to the network's outputs [n, T, ...]."""


@dataclass(frozen=True)
class Program:
    """A network made ready to predict on batches of exactly `batch` items."""

    batch: int
    block: int
    """How many batches of outputs fit the budget together."""
    outputs: int
    """Bytes of one batch's outputs under all draws, as far as known."""
    form: str
    bind: Callable[[Draws], Outputs] = field(repr=False)
    logits: Callable[[Draws, Draws, Tensor], Outputs] | None = field(default=None, repr=False)
    """The same from means and deviations of the drawn tensors and noise [T, C]; a dense last layer only."""

    @property
    def light(self) -> bool:
        """Whether only dense layers, if anything, run for every draw."""
        return self.form in ("no draws", "dense chain")


def build(
    network: nn.Module,
    item: Tensor,
    draws: Draws,
    *,
    dropouts: Sequence[DropoutCall] = (),
    count: int,
    budget: int = BUDGET,
) -> Program:
    """The program for items like `item` [1, ...] under `count` draws of the named tensors.

    The batch depends on the network, the shape of the item and the budget, never on how many items
    there are: with every batch padded to it, outputs are independent of the rest of the batch.
    """
    tensors = {name: channels_last(tensor) for name, tensor in tensors_of(network).items()}
    drawn, of_items = tuple(draws), (tuple(item.shape), item.dtype, str(item.device))
    try:
        cut, batch = _CUTS.recall(
            network,
            (of_items, drawn, tuple(dropouts), count, budget),
            find=lambda: _cut(network, tensors, item, drawn, dropouts, count, budget),
        )
    except UntraceableError as error:
        _say(f"{error} Askwise runs the whole network once for every draw.")
        return Program(1, 1, 0, "plain loop", lambda d: _plain(network, tuple(dropouts), d, _count(d, count)))
    fixed = {**tensors, **_run(cut.stages["fixed"], tensors)}
    size = _outputs_bytes(cut, count)
    block = max(1, min(8, budget // max(1, size)))
    if cut.origin[cut.output] == "prefix":
        return Program(batch, block, size, "no draws", lambda _: _constant(cut, fixed, count))
    steps = chain.match(cut, fixed, batch=batch)
    if steps is not None and steps.flat:
        closed = _closed(cut, fixed, steps) if gaussian_logits.fits(steps, cut.stages["drawn"].run) else None
        chained: Callable[[Draws], Outputs] = lambda d: _chained(cut, fixed, steps, d, budget)  # noqa: E731
        return Program(batch, block, size, "dense chain", chained, closed)
    blocks = [] if steps is None else channel_masks.blocks_of(steps)
    if steps is not None and blocks and channel_masks.fits(blocks, _drawn(cut, fixed, draws)):
        thinned: Callable[[Draws], Outputs] = lambda d: _thinned(cut, fixed, steps, blocks, d, budget)  # noqa: E731
        return Program(batch, block, size, "kept channels", thinned)
    chunk = _chunk(cut, fixed, _batch_of(item, batch), draws, budget)
    return Program(batch, block, size, "vmap" if chunk else "loop", lambda d: _mapped(cut, fixed, d, chunk))


def _cut(
    network: nn.Module,
    tensors: Values,
    item: Tensor,
    drawn: Sequence[str],
    dropouts: Sequence[DropoutCall],
    count: int,
    budget: int,
) -> tuple[Split, int]:
    """The stages of the network, and how many items fit the budget at a time."""
    # A trace runs the network: of large items, one is enough to know how many fit.
    large = item.numel() * item.element_size() * BATCH > _SMALL
    batch = 1 if large else BATCH
    while True:
        cut = split(trace(network, tensors, _batch_of(item, batch), dropouts=dropouts), drawn)
        need = _bytes_needed(cut, count)
        room = 2 ** max(0, (batch * budget // max(1, need)).bit_length() - 1)
        if large and room > 1:
            batch, large = min(BATCH, room), False
        elif need <= budget or batch == 1:
            return cut, batch
        else:
            batch = max(1, min(batch // 2, room))


def _batch_of(item: Tensor, count: int) -> Tensor:
    return channels_last(item.expand(count, *item.shape[1:]).contiguous())


def _chunk(cut: Split, fixed: Values, inputs: Tensor, draws: Draws, budget: int) -> int | None:
    """How many draws vmap takes at once, or None where a loop over the suffix is better or needed."""
    if _draws_convolution_weights(cut):  # measured: mapping a convolution's weights is slower than a loop
        return None
    chunk = min(budget, _NEAR) // max(1, 3 * max(map(_size, cut.suffix.run.graph.nodes)))
    if chunk < 2:
        return None
    two = {name: tensor[:2] for name, tensor in draws.items()}
    try:
        with _no_slow_rules(), torch.no_grad():
            _mapped(cut, fixed, two, chunk)(inputs)
    except RuntimeError as error:
        _say(f"{str(error).splitlines()[0]} Askwise loops over the draws after the deterministic part.")
        return None
    return chunk


@contextmanager
def _no_slow_rules() -> Iterator[None]:
    """Where vmap has no rule for an operation it loops inside, and slowly: here it raises instead."""
    switch: Any = torch._C._functorch  # the switch has no public name
    before = switch._is_vmap_fallback_enabled()
    switch._set_vmap_fallback_enabled(False)
    try:
        yield
    finally:
        switch._set_vmap_fallback_enabled(before)


def _constant(cut: Split, fixed: Values, count: int) -> Outputs:
    """A network without draws: one pass, shown T times."""

    def outputs(inputs: Tensor) -> Tensor:
        value = _prefix(cut, fixed, inputs)[cut.output]
        return value.unsqueeze(1).expand(-1, count, *value.shape[1:])

    return outputs


def _chained(cut: Split, fixed: Values, steps: chain.Chain, draws: Draws, budget: int) -> Outputs:
    """A suffix of dense layers, masks and activations on one tensor of the prefix."""
    drawn, count = _drawn(cut, fixed, draws), _count(draws)
    blocks = dense_masks.blocks_of(steps, drawn)
    if blocks is None:
        bound = dense_draws.bind(steps, drawn, count=count, budget=budget)
    else:
        bound = dense_masks.bind(blocks, count=count, budget=budget)

    def outputs(inputs: Tensor) -> Tensor:
        return bound(_prefix(cut, fixed, inputs)[steps.source])

    return outputs


def _thinned(
    cut: Split,
    fixed: Values,
    steps: chain.Chain,
    blocks: Sequence[channel_masks.Block],
    draws: Draws,
    budget: int,
) -> Outputs:
    """A suffix of convolutions and dense layers under masks of whole channels."""
    drawn, count = _drawn(cut, fixed, draws), _count(draws)
    if not channel_masks.fits(blocks, drawn):
        return _mapped(cut, fixed, draws, None)
    bound = channel_masks.bind(blocks, drawn, count=count, budget=budget)
    return lambda inputs: bound(_prefix(cut, fixed, inputs)[steps.source])


def _closed(cut: Split, fixed: Values, steps: chain.Chain) -> Callable[[Draws, Draws, Tensor], Outputs]:
    """A Gaussian dense layer at the end, in closed form."""
    (layer,) = steps.steps
    assert isinstance(layer, chain.Dense)  # noqa: S101  gaussian_logits.fits sees to it

    def bind(means: Draws, stds: Draws, noise: Tensor) -> Outputs:
        one, other = (
            {
                name: value[0]
                for name, value in _drawn(cut, fixed, {k: v[None] for k, v in known.items()}).items()
            }
            for known in (means, stds)
        )
        bound = gaussian_logits.bind(layer, one, other, noise)
        return lambda inputs: bound(_prefix(cut, fixed, inputs)[steps.source])

    return bind


def _mapped(cut: Split, fixed: Values, draws: Draws, chunk: int | None) -> Outputs:
    """Any suffix: vectorised over chunks of draws, or a loop over them where `chunk` is None."""
    drawn, count = _drawn(cut, fixed, draws), _count(draws)
    suffix = cut.suffix
    axes = tuple(0 if name in drawn else None for name in suffix.takes)
    together = vmap(suffix.run, in_dims=axes) if chunk else None

    def outputs(inputs: Tensor) -> Tensor:
        shared = _prefix(cut, fixed, inputs)
        found: Tensor | None = None  # filled chunk by chunk: joining them afterwards would hold them twice
        for start in range(0, count, chunk or 1):
            here = {name: value[start : start + (chunk or 1)] for name, value in drawn.items()}
            if together is not None:
                values = [here[name] if name in here else shared[name] for name in suffix.takes]
                part = together(*values)[0]
            else:
                values = [here[name][0] if name in here else shared[name] for name in suffix.takes]
                part = suffix.run(*values)[0].unsqueeze(0)
            found = part.new_empty(count, *part.shape[1:]) if found is None else found
            found[start : start + len(part)] = part
        assert found is not None  # noqa: S101  there is at least one draw
        return found.transpose(0, 1)

    return outputs


def _plain(network: nn.Module, dropouts: tuple[DropoutCall, ...], draws: Draws, count: int) -> Outputs:
    """T whole passes, for networks that no graph describes."""

    def outputs(inputs: Tensor) -> Tensor:
        return torch.stack(
            [plain_pass(network, dropouts, draws, number, inputs) for number in range(count)], dim=1
        )

    return outputs


def plain_pass(
    network: nn.Module, dropouts: tuple[DropoutCall, ...], draws: Draws, number: int, inputs: Tensor
) -> Tensor:
    """The network's output under one draw, computed the slow and obvious way."""
    own = {name: tensor.clone() for name, tensor in tensors_of(network).items()}
    one = {name: tensor[number] for name, tensor in draws.items()}
    weights = {name: tensor for name, tensor in one.items() if name in own}
    with predicting(network, dropout=bool(dropouts)), masked(dropouts, one, len(inputs)):
        return call(network, {**own, **weights}, inputs)


def _drawn(cut: Split, fixed: Values, draws: Draws) -> dict[str, Tensor]:
    """Every value that depends on the draws alone, with the draw axis first."""
    stage = cut.stages["drawn"]
    values = dict(draws)
    if stage.gives:
        axes = tuple(0 if name in draws else None for name in stage.takes)
        inputs = [draws[name] if name in draws else fixed[name] for name in stage.takes]
        values.update(zip(stage.gives, vmap(stage.run, in_dims=axes)(*inputs), strict=True))
    return values


def _prefix(cut: Split, fixed: Values, inputs: Tensor) -> dict[str, Tensor]:
    """Every value that depends on the items alone, and the fixed ones."""
    known = {**fixed, INPUT: channels_last(inputs)}
    return {**known, **_run(cut.stages["prefix"], known)}


def _run(stage: Stage, values: Values) -> dict[str, Tensor]:
    return dict(zip(stage.gives, stage.run(*(values[name] for name in stage.takes)), strict=True))


def _count(draws: Draws, otherwise: int = 1) -> int:
    return len(next(iter(draws.values()))) if draws else otherwise


def _draws_convolution_weights(cut: Split) -> bool:
    nodes = cut.suffix.run.graph.nodes
    return any(
        n.target is torch.ops.aten.convolution.default and cut.origin[n.args[1].meta["name"]] == "drawn"
        for n in nodes
    )


def _bytes_needed(cut: Split, count: int) -> int:
    """Working memory of one batch: the prefix, one draw of the suffix, and all outputs while reduced."""
    nodes = [n for stage in ("prefix", "suffix") for n in cut.stages[stage].run.graph.nodes]
    return max(3 * max(map(_size, nodes), default=0), _outputs_bytes(cut, count))


def _outputs_bytes(cut: Split, count: int) -> int:
    """Memory for reducing the outputs of one batch under all draws."""
    nodes = cut.stages[cut.origin[cut.output]].run.graph.nodes
    return 4 * count * max((_size(n) for n in nodes if n.meta.get("name") == cut.output), default=0)


def _size(node: fx.Node) -> int:
    value = node.meta.get("val")
    return value.numel() * value.element_size() if isinstance(value, Tensor) else 0


def _say(message: str) -> None:
    warnings.warn(f"slower prediction: {message}", SlowPathWarning, stacklevel=2)

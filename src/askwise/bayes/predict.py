"""Log-probabilities, predictions and scores of any number of items, streamed through one program."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from askwise import acquire as acquisitions
from askwise.bayes import dropout
from askwise.bayes.fitted import Fitted
from askwise.bayes.place import called_layers
from askwise.bayes.posteriors import home
from askwise.bayes.program import BATCH, BUDGET, Program, build
from askwise.bayes.trace import call, outputs_of, predicting, tensors_of
from askwise.errors import InputError, check_options, choose, positive
from askwise.math.doubt import entropies
from askwise.math.entropy import marginal
from askwise.types import Draws, Features, LogProbs, Scores

Inputs: TypeAlias = Tensor | NDArray[Any]
"""Items [N, ...] in memory or memory-mapped: only a batch at a time is read."""


@dataclass(frozen=True)
class Prediction:
    """Mean probabilities [N, *sites, C], and doubt in nats [N, *sites]: total = epistemic + aleatoric."""

    mean: Tensor
    total: Tensor
    epistemic: Tensor
    aleatoric: Tensor


def log_probs(fitted: Fitted, inputs: Inputs, *, draws: int = 100, seed: int = 0) -> LogProbs:
    """Log-probabilities [N, T, *sites, C] under T networks, the same for every item and every call."""
    (found,) = _stream(fitted, inputs, lambda lp: (lp.contiguous(),), draws=draws, seed=seed)
    return found


def predict(fitted: Fitted, inputs: Inputs, *, draws: int = 100, seed: int = 0) -> Prediction:
    """The mean prediction of every item and what is doubtful in it."""

    def reduce(lp: LogProbs) -> tuple[Tensor, ...]:
        doubt = entropies(lp)
        return marginal(lp).exp(), doubt.total, doubt.epistemic, doubt.aleatoric

    return Prediction(*_stream(fitted, inputs, reduce, draws=draws, seed=seed))


def score_pool(
    fitted: Fitted,
    inputs: Inputs,
    acquire: str,
    *,
    draws: int = 100,
    seed: int = 0,
    ids: Sequence[str] | None = None,
    targets: Inputs | None = None,
    **options: Any,
) -> Scores:
    """One score per item, higher = ask first; the N x T x C log-probabilities are never stored.

    `ids` matter to `random` alone, `targets` (inputs to predict well) to `epig` alone.
    """
    acquisition = acquisitions.ACQUISITIONS[choose("acquisition", acquire, acquisitions.ACQUISITIONS)]
    if acquisition.needs == "ids":
        return acquisitions.score(
            acquire, ids=range(len(inputs)) if ids is None else ids, seed=seed, **options
        )
    if acquisition.needs == "targets":
        if targets is None:
            raise InputError(f"acquisition {acquire!r} needs targets: the inputs to predict well")
        options["targets"] = log_probs(fitted, targets, draws=draws, seed=seed)
    elif targets is not None:
        raise InputError(f"acquisition {acquire!r} takes no targets; only epig does")
    check_options(f"acquisition {acquire!r}", acquisition.function, options, given=("seed",))

    def reduce(lp: LogProbs) -> tuple[Scores]:
        return (fitted.task.per_item(acquisition.function(lp, **options)),)

    (scores,) = _stream(fitted, inputs, reduce, draws=draws, seed=seed)
    return scores


def features(fitted: Fitted, inputs: Inputs) -> Features:
    """What the last layer sees of every item [N, D], under the mean weights."""
    _check_inputs(inputs)
    network = fitted.network
    last = list(called_layers(network, _take(fitted, inputs, 0, 1)).values())[-1]
    seen: list[Tensor] = []
    hook = last.register_forward_pre_hook(lambda _, args: seen.append(args[0].flatten(1)))
    try:
        with predicting(network, dropout=False):
            for start in range(0, len(inputs), BATCH):
                call(network, tensors_of(network), _take(fitted, inputs, start, start + BATCH, pad=BATCH))
    finally:
        hook.remove()
    return torch.cat(seen)[: len(inputs)]


def _stream(
    fitted: Fitted, inputs: Inputs, reduce: Callable[[LogProbs], tuple[Tensor, ...]], *, draws: int, seed: int
) -> tuple[Tensor, ...]:
    """`reduce` of the log-probabilities of all items, taken one block of items after the other.

    A block is one batch. Where the draws themselves exceed the budget they are made anew in chunks,
    and a block is as many batches as it takes to make that worth while. Padding is cut off last: a
    shorter tensor would be computed by other instructions, with other last bits.
    """
    positive("draws", draws)
    _check_inputs(inputs)
    program, make = _program(fitted, _take(fitted, inputs, 0, 1), draws, seed)
    chunks = _chunks(make(range(1)), draws)
    once = program.bind(make(chunks[0])) if len(chunks) == 1 else None
    block = program.batch if once is not None else program.batch * program.block
    found = []
    for start in range(0, len(inputs), block):
        stop = min(start + block, len(inputs))
        with torch.no_grad():
            parts = []
            for numbers in chunks:
                run = once if once is not None else program.bind(make(numbers))
                parts.append(
                    _joined([run(items) for items in _batches(fitted, inputs, start, stop, program.batch)])
                )
            log_probs_here = fitted.task.log_probs(_joined(parts, dim=1))
            _refuse_nan(log_probs_here, start)
            found.append([part[: stop - start] for part in reduce(log_probs_here)])
    return tuple(_joined(list(parts)) for parts in zip(*found, strict=True))


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


def _check_inputs(inputs: object) -> None:
    if not isinstance(inputs, Tensor | np.ndarray):
        raise InputError(f"inputs must be a tensor or an array [N, ...], not {type(inputs).__name__}")
    if inputs.ndim == 0 or len(inputs) == 0:
        raise InputError(f"inputs must hold at least one item [N, ...]; their shape is {list(inputs.shape)}")


def _take(fitted: Fitted, inputs: Inputs, start: int, stop: int, *, pad: int = 0) -> Tensor:
    """Items from start to stop on the model's device, the last one repeated up to `pad` items.

    A batch always has one size, so that an item's bits do not depend on its company.
    """
    part = inputs[start:stop]
    items = part if isinstance(part, Tensor) else torch.from_numpy(np.array(part))
    missing = pad - len(items)
    if missing > 0:
        items = torch.cat([items, items[-1:].expand(missing, *items.shape[1:])])
    return items.to(next(iter(tensors_of(fitted.network).values())).device)


def _batches(fitted: Fitted, inputs: Inputs, start: int, stop: int, size: int) -> Iterator[Tensor]:
    for at in range(start, stop, size):
        yield _take(fitted, inputs, at, min(at + size, stop), pad=size)


def _joined(parts: list[Tensor], dim: int = 0) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def _refuse_nan(found: LogProbs, start: int) -> None:
    bad = found.flatten(1).isnan().any(dim=1).nonzero()
    if len(bad):
        raise InputError(
            f"the network's output for the item at position {start + int(bad[0])} is not a number; "
            "look at that input"
        )

"""The one epoch loop: in-memory batches, fused Adam, a stop at the first number that is not finite."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import Parameter

from askwise.errors import InputError, TrainingError, positive
from askwise.train.examples import Examples
from askwise.train.progress import track

Terms: TypeAlias = Mapping[str, Tensor]
"""The named parts of a loss; the one called `loss` is minimised, all are logged."""

History: TypeAlias = tuple[dict[str, float], ...]
"""The mean of every term in every epoch."""


_NAMED = 5  # items that an error lists


@dataclass(frozen=True)
class Training:
    """How long and how fast to learn."""

    epochs: int = 50
    batch: int = 64
    lr: float = 1e-3

    def __post_init__(self) -> None:
        positive("epochs", self.epochs)
        positive("batch", self.batch)
        if not self.lr > 0:
            raise InputError(f"lr must be above 0, not {self.lr!r}")

    def steps(self, count: int) -> int:
        """How many steps learning from `count` examples takes."""
        return self.epochs * len(_sizes(count, self.batch))


def train(
    step: Callable[[Tensor, Tensor, int], Terms],
    parameters: Iterable[Parameter] | Iterable[dict[str, Any]],
    data: Examples,
    *,
    training: Training,
    rng: torch.Generator,
    device: torch.device,
    channels_last: bool = False,
    progress: bool = False,
) -> History:
    """The history of minimising `step(inputs, labels, step number)["loss"]`."""
    optimizer = torch.optim.Adam(parameters, lr=training.lr, fused=True)
    history: list[dict[str, float]] = []
    number = 0
    for _ in track(range(training.epochs), "learning", show=progress):
        sums: dict[str, float] = {}
        for positions in _batches(len(data), training.batch, rng):
            inputs, labels = (part.to(device) for part in data.batch(positions))
            if channels_last and inputs.ndim == 4:
                inputs = inputs.contiguous(memory_format=torch.channels_last)
            optimizer.zero_grad(set_to_none=True)
            terms = step(inputs, labels, number)
            _check(terms, number, data, positions, inputs)
            terms["loss"].backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            number += 1
            for name, value in terms.items():
                sums[name] = sums.get(name, 0.0) + float(value.detach()) * len(positions)
        history.append({name: total / len(data) for name, total in sums.items()})
    return tuple(history)


def _sizes(count: int, batch: int) -> list[int]:
    """Batch sizes of an epoch, as even as can be.

    A last batch of two items would move the weights as far as one of sixty-four, and accuracy would
    dip wherever the number of labels is just above a multiple of the batch.
    """
    batches = math.ceil(count / batch)
    return [count // batches + (number < count % batches) for number in range(batches)]


def _batches(count: int, batch: int, rng: torch.Generator) -> Iterator[Tensor]:
    return iter(torch.split(torch.randperm(count, generator=rng), _sizes(count, batch)))


def _check(terms: Terms, number: int, data: Examples, positions: Tensor, inputs: Tensor) -> None:
    """An error that names step and items if the loss is not finite: broken inputs, or else the batch."""
    if bool(torch.isfinite(terms["loss"])):
        return
    broken = ~torch.isfinite(inputs.flatten(1)).all(dim=1).cpu()
    suspects = positions[broken] if broken.any() else positions
    parts = ", ".join(f"{name} = {float(value.detach()):g}" for name, value in terms.items())
    names = [data.name(int(at)) for at in suspects[:_NAMED]]
    more = f" and {len(suspects) - _NAMED} more" if len(suspects) > _NAMED else ""
    what = "the inputs of these are not finite" if broken.any() else "look at these, or lower lr"
    raise TrainingError(
        f"the loss is not finite at step {number} ({parts}), on items {', '.join(names)}{more}; {what}"
    )

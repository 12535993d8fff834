"""The one epoch loop: in-memory batches, any optimizer, a stop at the first number that is not finite."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from askwise.errors import InputError, TrainingError, at_least_zero, choose, positive
from askwise.train.augment import AUGMENTATIONS, Augmentation
from askwise.train.converged import Ending, last_epoch
from askwise.train.examples import Examples
from askwise.train.optimizer import Optimizer
from askwise.train.progress import Follow, track

Terms: TypeAlias = Mapping[str, Tensor]
"""The named parts of a loss; the one called `loss` is minimised, all are logged."""

History: TypeAlias = tuple[dict[str, float], ...]
"""The mean of every term in every epoch that was learned."""


_NAMED = 5  # items that an error lists


@dataclass(frozen=True)
class Training:
    """How long and how fast to learn, and what is done to the examples on the way.

    `balance="weights"` makes rare classes count more, `"resample"` draws their examples more often.
    `augment` names changes to every batch (flip, shift, noise: one or several), or is a function
    (inputs, labels, rng) -> (inputs, labels) of one's own. `converged`, say .01, ends the training
    before its last epoch: when ten epochs improved the loss by no more than that fraction of its
    fall since the first, and never within the first twenty.
    """

    epochs: int = 50
    batch: int = 64
    lr: float = 1e-3
    balance: str | None = None
    augment: str | Sequence[str] | Augmentation | None = None
    converged: float | None = None

    def __post_init__(self) -> None:
        positive("epochs", self.epochs)
        positive("batch", self.batch)
        if not self.lr > 0:
            raise InputError(f"lr must be above 0, not {self.lr!r}")
        if self.converged is not None and at_least_zero("converged", self.converged) >= 1:
            raise InputError(f"converged is a fraction of the loss's fall, below 1, not {self.converged!r}")
        if self.balance is not None:
            choose("balance", self.balance, ("weights", "resample"))
        if self.augment is not None and not callable(self.augment):
            names = (self.augment,) if isinstance(self.augment, str) else tuple(self.augment)
            for name in names:
                choose("augmentation", name, AUGMENTATIONS)
            object.__setattr__(self, "augment", names or None)

    def steps(self, count: int) -> int:
        """How many steps learning from `count` examples takes, unless it converges sooner."""
        return self.epochs * len(_sizes(count, self.batch))


def train(
    step: Callable[[Tensor, Tensor, int], Terms],
    optimizer: Optimizer,
    data: Examples,
    *,
    training: Training,
    rng: torch.Generator,
    device: torch.device,
    progress: Follow = False,
    prepare: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    ending: Ending = Ending(),  # noqa: B008 - frozen
) -> History:
    """The history of minimising `step(inputs, labels, step number)["loss"]` over prepared batches.

    It has one entry for each epoch that was learned.
    """
    history: list[dict[str, float]] = []
    number, last = 0, training.epochs
    sizes = _sizes(len(data), training.batch)
    for _ in track(range(training.epochs), "learning", show=progress):
        sums: dict[str, float] = {}
        for positions in torch.split(data.order(rng), sizes):
            batch = data.batch(positions)
            inputs, labels = (part.to(device) for part in (prepare(*batch) if prepare else batch))
            for _ in range(optimizer.samples):
                with optimizer.sampling():
                    terms = step(inputs, labels, number)
                    _check(terms, number, data, positions, inputs)
                    terms["loss"].backward()  # type: ignore[no-untyped-call]
                for name, value in terms.items():
                    share = len(positions) / optimizer.samples
                    sums[name] = sums.get(name, 0.0) + float(value.detach()) * share
            optimizer.step()
            number += 1
        history.append({name: total / len(data) for name, total in sums.items()})
        if last == training.epochs:
            last = last_epoch(history, training.epochs, training.converged, ending)
            if last < training.epochs:
                ending.moved((training.epochs - last) * len(sizes))
        if len(history) == last:
            break
    return tuple(history)


def _sizes(count: int, batch: int) -> list[int]:
    """Batch sizes of an epoch, as even as can be.

    A last batch of two items would move the weights as far as one of sixty-four, and accuracy would
    dip wherever the number of labels is just above a multiple of the batch.
    """
    batches = math.ceil(count / batch)
    return [count // batches + (number < count % batches) for number in range(batches)]


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

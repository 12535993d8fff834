"""How long, how fast and under which prior a network learns."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from typing import Any

from torch import Tensor

from askwise.errors import InputError, at_least_zero, choose, positive
from askwise.references import defaults_of, written
from askwise.train.augment import AUGMENTATIONS, Augmentation

EPOCHS = 50  # of a training that does not name them
OPTIMIZERS = ("adam", "adamw", "sgd")
WATCHED = ("nll", "accuracy")


def constant(_done: float) -> float:
    """The same learning rate throughout."""
    return 1.0


def cosine(done: float) -> float:
    """From the whole learning rate to none, along half a cosine (Loshchilov and Hutter 2017)."""
    return (1 + math.cos(math.pi * done)) / 2


def step(done: float) -> float:
    """A tenth of the learning rate after half of the steps, a hundredth after three quarters."""
    return 1.0 if done < 0.5 else 0.1 if done < 0.75 else 0.01


SCHEDULES: dict[str, Callable[[float], float]] = {"constant": constant, "cosine": cosine, "step": step}
"""The share of the learning rate by how much of the training is done, from 0 to 1."""


@dataclass(frozen=True)
class Course:
    """The epochs of one training; each makes `passes` over the examples in batches of these sizes."""

    epochs: int
    passes: int
    sizes: Sequence[int]

    @property
    def steps_per_epoch(self) -> int:
        """The number of optimiser steps in an epoch."""
        return self.passes * len(self.sizes)

    @property
    def steps(self) -> int:
        """The number of optimiser steps, unless the training ends early."""
        return self.epochs * self.steps_per_epoch


@dataclass(frozen=True)
class Length:
    """So many epochs, and at least so many steps, or `passes` over the examples where these are fewer."""

    epochs: int
    min_steps: int
    passes: int | None = None

    def course(self, sizes: Sequence[int]) -> Course:
        """The epochs over examples that come in batches of these sizes."""
        most = math.inf if self.passes is None else self.passes * len(sizes)
        least = min(self.min_steps, most)
        return Course(self.epochs, max(1, math.ceil(least / (self.epochs * len(sizes)))), sizes)


USUAL = Length(EPOCHS, min_steps=500)
LENGTHS: Mapping[str, Length] = {"regression": Length(EPOCHS, min_steps=5000, passes=500)}
"""The length, by task, of a training that names neither epochs nor steps; the usual one for tasks not listed.

Numbers can be learned to a small error, and that takes long; with few labels the same number of steps
would fit their noise. Both were measured: results/default_training.md.
"""


@dataclass(frozen=True, repr=False)
class Training:
    """How a network learns from labelled examples.

    Length: `epochs` passes over the examples and at least `min_steps` optimiser steps; where the
    labels are few an epoch passes over them several times. `epochs` alone means exactly that many
    passes. A training that names neither makes 50 epochs and at least 500 steps. Numbers (regression)
    take longer: at least 5,000 steps, or 500 passes where these are fewer. `patience` ends the training
    when the validation data (`aw.fit(..., validation=(x, y))`) have not improved for that many epochs,
    and restores the best weights; `watch` says by what: nll, or accuracy. `converged`, say .01, ends it
    when ten epochs improved the loss by no more than that fraction of its fall since the first, and
    never within the first twenty.

    Pace: `optimizer` is adam, adamw or sgd (momentum .9), `schedule` of the learning rate constant,
    cosine or step.

    Prior: `prior_precision` p is the Gaussian prior N(0, 1/p) of deterministic weights, a weight
    decay of p / number of labels; a table such as {"dense1": 7.0} names layers. `weight_decay` is a
    decay that does not depend on the number of labels, as torch's optimisers have it. Biases and
    normalisation have neither.

    `balance="weights"` makes rare classes count more, `"resample"` draws their examples more often.
    `augment` names changes to every batch (flip, shift, noise: one or several), or is a function
    (inputs, labels, rng) -> (inputs, labels) of one's own.

    >>> aw.fit(network, (x, y), training=aw.Training(epochs=2, lr=1e-2)).history[-1].keys() >= {"loss"}
    True
    """

    epochs: int | None = None
    batch_size: int = 64
    lr: float = 3e-3
    _: KW_ONLY
    min_steps: int | None = None
    optimizer: str = "adam"
    schedule: str = "constant"
    weight_decay: float = 0.0
    prior_precision: float | Mapping[str, float] = 0.0
    patience: int | None = None
    watch: str = "nll"
    balance: str | None = None
    augment: str | Sequence[str] | Augmentation | None = None
    converged: float | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "min_steps", "patience"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        positive("batch_size", self.batch_size)
        if not self.lr > 0:
            raise InputError(f"lr must be above 0, not {self.lr!r}")
        choose("optimizer", self.optimizer, OPTIMIZERS)
        choose("schedule", self.schedule, SCHEDULES)
        choose("watch", self.watch, WATCHED)
        at_least_zero("weight_decay", self.weight_decay)
        for value in self._precisions().values():
            at_least_zero("prior_precision", value)
        if self.converged is not None and at_least_zero("converged", self.converged) >= 1:
            raise InputError(f"converged is a fraction of the loss's fall, below 1, not {self.converged!r}")
        if self.balance is not None:
            choose("balance", self.balance, ("weights", "resample"))
        if self.augment is not None and not callable(self.augment):
            names = (self.augment,) if isinstance(self.augment, str) else tuple(self.augment)
            for name in names:
                choose("augmentation", name, AUGMENTATIONS)
            object.__setattr__(self, "augment", names or None)

    def options(self) -> dict[str, Any]:
        """Every option by its name, as a plan writes them down."""
        if callable(self.augment):
            raise InputError(
                "a function cannot be written into a plan; name augmentations: augment=('flip', 'shift')"
            )
        return asdict(self)

    def __repr__(self) -> str:
        """As it is written: `aw.Training(epochs=20)`, with the options that differ from their defaults."""
        return written("aw.Training", vars(self), defaults_of(self))

    def length(self, task: str = "classification") -> Length:
        """The length as it is named, or else that of the task."""
        if self.epochs is None and self.min_steps is None:
            return LENGTHS.get(task, USUAL)
        return Length(EPOCHS if self.epochs is None else self.epochs, self.min_steps or 0)

    def course(self, count: int, task: str = "classification") -> Course:
        """The epochs and batches of learning a task from `count` examples."""
        return self.length(task).course(even_sizes(count, self.batch_size))

    def decays(self, parameters: Mapping[str, Tensor], count: int) -> dict[str, float]:
        """The weight decay of every parameter, by name, when there are `count` labels."""
        found = {name: self.weight_decay if p.ndim > 1 else 0.0 for name, p in parameters.items()}
        for layer, precision in self._precisions().items():
            own = [name for name, p in parameters.items() if p.ndim > 1 and _within(name, layer)]
            if precision and layer and not own:
                layers = dict.fromkeys(
                    name.rpartition(".")[0] for name, p in parameters.items() if p.ndim > 1
                )
                choose("layer in prior_precision", layer, layers)
            for name in own:
                found[name] += precision / count
        return found

    def _precisions(self) -> Mapping[str, float]:
        """The prior precision by layer; the empty name stands for all."""
        given = self.prior_precision
        return given if isinstance(given, Mapping) else {"": given}


def as_training(given: object) -> Training:
    """A training: the record itself, or a table of its options."""
    if isinstance(given, Training):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"training is a Training or a table of its options, not {given!r}")
    for option in given:
        choose("option of training", option, [field.name for field in fields(Training)])
    return Training(**given)


def even_sizes(count: int, batch: int) -> list[int]:
    """Batch sizes of one pass, as even as can be.

    A last batch of two items would move the weights as far as one of sixty-four, and accuracy would
    dip wherever the number of labels is just above a multiple of the batch.
    """
    batches = math.ceil(count / batch)
    return [count // batches + (number < count % batches) for number in range(batches)]


def _within(name: str, layer: str) -> bool:
    return not layer or name.startswith(f"{layer}.")

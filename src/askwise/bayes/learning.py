"""What every posterior is given when it learns, and gives back."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, nn

from askwise.bayes import layout
from askwise.seeding import derive, generator
from askwise.tasks import Task
from askwise.train import Ending, Examples, History, Optimizer, Terms, Training, augmented, train
from askwise.train.progress import Follow

State: TypeAlias = dict[str, Tensor]
"""What a posterior knows beyond the network's own weights, by name."""


@dataclass(frozen=True)
class Job:
    """Examples, task and circumstances of one training."""

    data: Examples
    task: Task
    training: Training
    seed: int
    device: torch.device
    progress: Follow = False
    start: State = field(default_factory=dict)
    """The state to go on from; empty for a new one."""
    scratch: bool = False
    """Whether the network's weights are new, so that more of them may be drawn."""
    weights: Tensor | None = None
    """How much each class counts in the likelihood; None for all alike."""
    validation: Examples | None = None
    """Labelled examples to choose by and not to learn from; None where there are none."""

    def epochs(self, steps: int) -> int:
        """How many epochs it takes to make so many steps."""
        return math.ceil(steps * self.training.epochs / self.training.steps(len(self.data)))

    @property
    def example(self) -> Tensor:
        """The first item, as a batch of one on the job's device."""
        return self.data.first.to(self.device)


@dataclass(frozen=True)
class Learned:
    """The posterior's state after training, and how the loss went."""

    state: State
    history: History


def learn(
    network: nn.Module,
    optimizer: Optimizer,
    job: Job,
    *,
    extra: Callable[[int], Terms] | None = None,
    channels_last: bool = True,
    ending: Ending = Ending(),  # noqa: B008 - frozen
) -> History:
    """The history of minimising mean NLL, plus the `loss` among the extra terms of each step.

    The network's own dropout draws from torch's global stream, so that stream is set for the
    training and put back as it was. Two-dimensional convolutions learn faster with the channels
    last, except under local reparameterisation. `ending` matters where the training may end early.
    """
    channels_last = channels_last and any(isinstance(m, nn.Conv2d) for m in network.modules())
    if channels_last:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    weights = None if job.weights is None else job.weights.to(job.device)

    def step(inputs: Tensor, labels: Tensor, number: int) -> Terms:
        nll = job.task.nll(network(inputs), labels, weights)
        if extra is None:
            return {"loss": nll, "nll": nll}
        terms = extra(number)
        return {**terms, "loss": nll + terms["loss"], "nll": nll}

    network.train()
    with torch.random.fork_rng():
        torch.manual_seed(derive(job.seed, "train", "network"))
        return train(
            step,
            optimizer,
            job.data,
            training=job.training,
            rng=generator(job.seed, "train", "order"),
            device=job.device,
            progress=job.progress,
            prepare=_prepare(job, channels_last),
            ending=ending,
        )


def _prepare(job: Job, channels_last: bool) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """What is done to every batch: augmentation, from a stream of its own, and the layout."""
    choice, rng = job.training.augment, generator(job.seed, "train", "augment")

    def prepare(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        if choice is not None:
            inputs, labels = augmented(choice, inputs, labels, rng)
        return layout.channels_last(inputs) if channels_last else inputs, labels

    return prepare

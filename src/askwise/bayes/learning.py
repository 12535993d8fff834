"""What every posterior is given when it learns, and gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, nn

from askwise.seeding import derive, generator
from askwise.tasks import Task
from askwise.train import Examples, History, Optimizer, Terms, Training, augmented, train

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
    progress: bool = False
    start: State = field(default_factory=dict)
    """The state to go on from; empty for a new one."""
    scratch: bool = False
    """Whether the network's weights are new, so that more of them may be drawn."""
    weights: Tensor | None = None
    """How much each class counts in the likelihood; None for all alike."""

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
) -> History:
    """The history of minimising mean NLL, plus the `loss` among the extra terms of each step.

    The network's own dropout draws from torch's global stream, so that stream is set for the
    training and put back as it was. Two-dimensional convolutions learn faster with the channels
    last, except under local reparameterisation.
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
            channels_last=channels_last,
            progress=job.progress,
            augment=_augment(job),
        )


def _augment(job: Job) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None:
    """What the training does to every batch, from a stream of its own."""
    choice = job.training.augment
    if choice is None:
        return None
    rng = generator(job.seed, "train", "augment")
    return lambda inputs, labels: augmented(choice, inputs, labels, rng)

"""What every posterior is given when it learns, and gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from askwise.seeding import derive, generator
from askwise.tasks import Task
from askwise.train import Examples, History, Terms, Training, train

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

    @property
    def example(self) -> Tensor:
        """The first item, as a batch of one on the job's device."""
        return self.data.batch(torch.zeros(1, dtype=torch.long))[0].to(self.device)


@dataclass(frozen=True)
class Learned:
    """The posterior's state after training, and how the loss went."""

    state: State
    history: History


def learn(
    network: nn.Module,
    groups: list[dict[str, Any]],
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

    def step(inputs: Tensor, labels: Tensor, number: int) -> Terms:
        nll = job.task.nll(network(inputs), labels)
        if extra is None:
            return {"loss": nll, "nll": nll}
        terms = extra(number)
        return {**terms, "loss": nll + terms["loss"], "nll": nll}

    network.train()
    with torch.random.fork_rng():
        torch.manual_seed(derive(job.seed, "train", "network"))
        return train(
            step,
            groups,
            job.data,
            training=job.training,
            rng=generator(job.seed, "train", "order"),
            device=job.device,
            channels_last=channels_last,
            progress=job.progress,
        )

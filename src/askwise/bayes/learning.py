"""What every posterior is given when it learns, and gives back."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import Parameter

from askwise.bayes.operations import operations
from askwise.bayes.program import trace
from askwise.engine.threads import threads
from askwise.errors import InputError
from askwise.seeding import derive, generator, torch_alone, torch_stream
from askwise.tasks import Task
from askwise.train import (
    Course,
    EarlyStop,
    Ending,
    Examples,
    History,
    Optimizer,
    Plain,
    Terms,
    Training,
    augmented,
    grouped,
    train,
)
from askwise.train.progress import Follow

_BATCH = 256  # validation items in one pass
_TRAVEL = 15.0  # nats: from softplus(-11) to a prior's deviation of 1, and some to spare
_HEAD_TRAVEL = 25.0  # how far a mean of a linear head may have to go; measured on digits
_FASTEST, _TIMES = 0.1, 100  # a step; times the weights' rate, so that a tiny one moves nothing
_AHEAD, _BRISK = 3.0, 0.03  # of widths in long trainings: times the weights' rate; a step
_LARGE = 2e8  # floating-point operations of a step's forward pass from which several threads pay

State: TypeAlias = dict[str, Tensor]
"""What a posterior knows beyond the network's own weights, by name."""


@dataclass(frozen=True)
class TrainingJob:
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
    """Labelled examples that are not learned from; training may end by them, and priors be chosen."""

    @property
    def course(self) -> Course:
        """The epochs and batches of the training."""
        return self.training.course(len(self.data), self.task.name)

    @property
    def width_rate(self) -> float:
        """The first learning rate of a Gaussian's log-deviation, which falls to zero along a cosine.

        It lets a deviation cross its whole range in the training. At the weights' own rate it would
        stay near its start: 500 steps of .001 are half a nat. In a long training it is still three
        times the weights', up to .03: behind deviations that lag, units stay in use that the bound is
        better without.
        """
        ahead = min(_AHEAD * self.training.lr, _BRISK)
        return max(ahead, self._crossing(_TRAVEL))

    @property
    def head_rate(self) -> float:
        """The first learning rate of the means of a Gaussian layer that learns alone; it falls likewise.

        Nothing below such a layer moves, so the bound has one best value, and this rate reaches it in
        an ordinary training. At the weights' own rate 1,000 digits leave deviations half as wide.
        """
        return self._crossing(_HEAD_TRAVEL)

    def _crossing(self, distance: float) -> float:
        """The rate that goes so far in the training while it falls along a cosine; at least the weights'."""
        lr = self.training.lr
        return max(lr, min(_FASTEST, _TIMES * lr, 2 * distance / self.course.steps))

    def epochs(self, steps: int) -> int:
        """Number of epochs that hold `steps` optimiser steps."""
        return math.ceil(steps / self.course.steps_per_epoch)

    def optimizer(
        self,
        parameters: Mapping[str, Parameter],
        *,
        decays: Mapping[str, float] | None = None,
        rates: Mapping[str, float] | None = None,
        gaussian: Iterable[str] = (),
    ) -> Plain:
        """The training's optimizer for these parameters.

        `decays` replaces the training's weight decays, and the layers in `gaussian` have none, because
        they have a prior of their own; `rates` names parameters with a learning rate of their own,
        which falls along a cosine.
        """
        own = self.training.decays(parameters, len(self.data)) if decays is None else decays
        layers = tuple(f"{layer}." for layer in gaussian)
        own = {name: 0.0 if name.startswith(layers) else decay for name, decay in own.items()}
        groups = grouped(parameters, decays=own, rates=rates or {})
        return Plain(groups, name=self.training.optimizer, lr=self.training.lr)

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
    job: TrainingJob,
    *,
    extra: Callable[[int], Terms] | None = None,
    outputs: Callable[[Tensor, Tensor], None] | None = None,
    channels_last: bool = True,
    ending: Ending = Ending(),  # noqa: B008 - frozen
) -> History:
    """The history of minimising mean NLL, plus the `loss` among the extra terms of each step.

    The network's own dropout draws from torch's global stream, so that stream is set for the
    training and put back as it was. Two-dimensional convolutions learn faster with the channels
    last, except under local reparameterisation. `outputs` is told those of the network at each step, with
    their labels, before the loss is differentiated. `ending` matters where the training may end early.
    """
    channels_last = channels_last and any(isinstance(m, nn.Conv2d) for m in network.modules())
    if channels_last:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    weights = None if job.weights is None else job.weights.to(job.device)

    def step(inputs: Tensor, labels: Tensor, number: int) -> Terms:
        with torch_alone():
            found = network(inputs)
        if outputs is not None:
            outputs(found, labels)
        nll = job.task.nll(found, labels, weights)
        if extra is None:
            return {"loss": nll, "nll": nll}
        terms = extra(number)
        return {**terms, "loss": nll + terms["loss"], "nll": nll}

    early_stop = _early_stop(network, optimizer, job)
    network.train()
    stream = torch_stream(derive(job.seed, "train", "network"))
    with stream, threads(training_threads(network, job.example, job.training)):
        return train(
            step,
            optimizer,
            job.data,
            training=job.training,
            course=job.course,
            rng=generator(job.seed, "train", "order"),
            device=job.device,
            progress=job.progress,
            prepare=_prepare(job, channels_last),
            ending=ending,
            early_stop=early_stop,
        )


def training_threads(network: nn.Module, example: Tensor, training: Training) -> int:
    """The number of threads to train with: one where a step is small, otherwise as many as torch has.

    A small operation gains nothing from a second thread, and on a busy machine its threads wait for
    each other: a training of .3 s then takes half a minute. The rule looks at the network, an item
    and the batch size alone, so that a run repeats to the bit.
    """
    modes = {module: module.training for module in network.modules()}
    try:
        network.eval()
        with torch_alone():
            step = operations(network, example) * training.batch_size
    finally:
        for module, mode in modes.items():
            module.training = mode
    return 1 if step < _LARGE else torch.get_num_threads()


def learnable(network: nn.Module) -> dict[str, Parameter]:
    """The parameters that are not frozen, by name."""
    return {name: p for name, p in network.named_parameters() if p.requires_grad}


def _early_stop(network: nn.Module, optimizer: Optimizer, job: TrainingJob) -> EarlyStop | None:
    """What ends the training by validation data, if it has patience."""
    if job.training.patience is None:
        return None
    if job.validation is None:
        raise InputError("patience needs validation data: aw.fit(..., validation=(x, y))")
    held = job.validation

    @torch.no_grad()
    def loss() -> float:
        network.eval()
        parts = torch.split(torch.arange(len(held)), _BATCH)
        total = sum(float(_loss(network, job, *held.batch(at))) * len(at) for at in parts)
        network.train()
        return total / len(held)

    return EarlyStop(network, optimizer, loss, patience=job.training.patience)


def _loss(network: nn.Module, job: TrainingJob, inputs: Tensor, labels: Tensor) -> Tensor:
    """What early stopping watches: the mean NLL of the mean weights, or their share of errors."""
    outputs, labels = network(inputs.to(job.device)), labels.to(job.device)
    if job.training.watch == "nll":
        return job.task.nll(outputs, labels)
    if job.task.name != "classification" or labels.is_floating_point():
        raise InputError("watch='accuracy' needs one class per item; use watch='nll'")
    wrong: Tensor = outputs.argmax(dim=1) != labels
    return wrong.float().mean()


def _prepare(job: TrainingJob, channels_last: bool) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """What is done to every batch: augmentation, from a stream of its own, and the layout."""
    choice, rng = job.training.augment, generator(job.seed, "train", "augment")

    def prepare(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        if choice is not None:
            inputs, labels = augmented(choice, inputs, labels, rng)
        return trace.channels_last(inputs) if channels_last else inputs, labels

    return prepare

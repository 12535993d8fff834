"""A Gaussian over all weights from where training went in its last part (Maddox et al. 2019).

Mean and variances of the iterates under a constant learning rate, and a low rank from the last of
their deviations: N(mean, diag(var) / 2 + deviations deviations^T / (2 (rank - 1))).
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from askwise.bayes.learning import Learned, State, TrainingJob, learn, learnable
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program.trace import DropoutCall
from askwise.errors import InputError, at_least_zero, positive
from askwise.seeding import generator, keyed_normals
from askwise.train import Ending, Optimizer
from askwise.types import Draws

_BATCH = 256  # items in one pass that measures the statistics of normalisation


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """How many iterates are collected, over the last `part` of the steps, and the rank they leave.

    Every parameter that learns is drawn. The statistics of batch norm are measured anew under the
    mean weights, once, and serve every draw. A warm start goes on from the mean weights alone.

    >>> aw.fit(network, (x, y), posterior=aw.swag(), training=aw.Training(epochs=20)).posterior.name
    'swag'
    """

    name: ClassVar[str] = "swag"
    dropout: ClassVar[bool] = False
    iterates: int = 30
    rank: int = 20
    part: float = 0.5

    def __post_init__(self) -> None:
        for word in ("iterates", "rank"):
            if positive(word, getattr(self, word)) < 2:
                raise InputError(f"{word} must be at least 2: one point has no spread")
        if not 0 < at_least_zero("part", self.part) <= 1:
            raise InputError(f"part is a fraction of the training above 0 and up to 1, not {self.part!r}")

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Variances and deviations of every weight; the mean is left in the network's own weights."""
        own = learnable(network)
        if job.training.patience is not None:
            raise InputError(
                "swag averages the last part of its training and cannot end early; leave patience out"
            )
        steps = job.course.steps
        at = _collected(steps, self)
        if len(at) < 2:
            raise InputError(
                f"swag needs two steps in the last {self.part:g} of training, and all of it has {steps}; "
                "use more epochs or a smaller batch"
            )
        trail = Trail(job.optimizer(own), own, at=at, rank=self.rank)
        history = learn(
            network, trail, job, ending=Ending(tail=job.epochs(steps - at.start), moved=trail.end_sooner)
        )
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(trail.mean[name])
        _measure_statistics(network, job)
        return Learned(trail.state(), history)

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Whole weight tensors; what a draw takes of the common deviations is the same for all of them."""
        names = [key.removesuffix(".variance") for key in state if key.endswith(".variance")]
        rank = len(state[f"{names[0]}.deviations"])
        shares = [torch.randn(rank, generator=generator(seed, "draw", n, "deviations")) for n in numbers]
        draws = {}
        for name in names:
            mean = network.get_parameter(name).detach()
            std = (state[f"{name}.variance"] / 2).sqrt().to(mean)
            deviations = state[f"{name}.deviations"].flatten(1).to(mean) / math.sqrt(2 * (rank - 1))
            stack = keyed_normals(seed, numbers, name, mean.shape)
            common = torch.stack(shares).to(mean) @ deviations
            draws[name] = stack.to(mean).mul_(std).add_(common.view(stack.shape)).add_(mean)
        return draws


class Trail:
    """An optimizer that remembers the weights after chosen steps: their mean, variance, last deviations."""

    def __init__(
        self, optimizer: Optimizer, parameters: Mapping[str, Tensor], *, at: range, rank: int
    ) -> None:
        self.samples, self.parts = optimizer.samples, optimizer.parts
        self.state_dict, self.load_state_dict = optimizer.state_dict, optimizer.load_state_dict
        self.mean = {name: torch.zeros_like(p) for name, p in parameters.items()}
        self._optimizer, self._parameters, self._at = optimizer, parameters, at
        self._squares = {name: torch.zeros_like(p) for name, p in parameters.items()}
        self._last: deque[dict[str, Tensor]] = deque(maxlen=rank)
        self._steps = self._count = 0

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """The block of the optimizer itself."""
        with self._optimizer.sampling():
            yield

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights, and take them in if this is one of the chosen steps."""
        self._optimizer.step()
        if self._steps in self._at:
            self._count += 1
            deviations = {}
            for name, value in self._parameters.items():
                before = value - self.mean[name]
                self.mean[name] += before / self._count
                deviations[name] = value - self.mean[name]
                self._squares[name] += before * deviations[name]  # Welford's sum: no large numbers cancel
            self._last.append(deviations)
        self._steps += 1

    def end_sooner(self, steps: int) -> None:
        """Collect `steps` earlier: the training ends that much sooner."""
        self._at = range(self._at.start - steps, self._at.stop - steps, self._at.step)

    def state(self) -> State:
        """Variance and deviations [rank, ...] of every weight, and how many iterates they come from."""
        found = {"collected": torch.tensor(self._count)}
        for name, squares in self._squares.items():
            found[f"{name}.variance"] = (squares / self._count).contiguous()
            found[f"{name}.deviations"] = torch.stack([one[name] for one in self._last]).contiguous()
        return found


def _collected(steps: int, config: Config) -> range:
    """The steps, counted from 0, after which weights are collected: evenly spaced, and the last one."""
    span = math.floor(steps * config.part)
    spacing = max(1, span // config.iterates)
    count = min(config.iterates, span // spacing)
    return range(steps - 1 - (count - 1) * spacing, steps, spacing)


def _measure_statistics(network: nn.Module, job: TrainingJob) -> None:
    """Running means and variances of batch norm under the weights as they are, over all examples."""
    norms = [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    norms = [m for m in norms if m.track_running_stats]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    network.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # torch's word for the plain mean over batches
        norm.train()
    with torch.no_grad():
        for positions in torch.split(torch.arange(len(job.data)), _BATCH):
            if len(positions) > 1 or len(job.data) == 1:  # the variance of a single item is none
                network(job.data.batch(positions)[0].to(job.device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    network.eval()

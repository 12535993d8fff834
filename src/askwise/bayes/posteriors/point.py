"""No doubt in the weights: the network as ordinary training leaves it, the control of every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes.learning import Job, Learned, State, learn
from askwise.bayes.sites import Site
from askwise.errors import at_least_zero
from askwise.train import Adam
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True)
class Config:
    """One set of weights; `weight_decay` adds weight_decay * w to the gradient of the mean loss."""

    name: ClassVar[str] = "point"
    weight_decay: float = 0.0
    dropout: ClassVar[bool] = False

    def __post_init__(self) -> None:
        at_least_zero("weight_decay", self.weight_decay)


def fit(network: nn.Module, config: Config, job: Job) -> Learned:
    """Weights that maximise the likelihood, learned in place."""
    learnable = [p for p in network.parameters() if p.requires_grad]
    groups = [{"params": learnable, "weight_decay": config.weight_decay}]
    return Learned({}, learn(network, Adam(groups, lr=job.training.lr), job))


def draw(
    network: nn.Module, config: Config, state: State, *, numbers: range, seed: int, sites: Sequence[Site]
) -> Draws:
    """Nothing: every draw is the network itself."""
    return {}

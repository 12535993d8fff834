"""No doubt in the weights: the network as ordinary training leaves it, the control of every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes.learning import Job, Learned, State, learn, learnable
from askwise.bayes.sites import Site
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True)
class Config:
    """One set of weights: the most probable ones under the training's prior."""

    name: ClassVar[str] = "point"
    dropout: ClassVar[bool] = False


def fit(network: nn.Module, config: Config, job: Job) -> Learned:
    """Weights that maximise the likelihood, learned in place."""
    return Learned({}, learn(network, job.optimizer(learnable(network)), job))


def draw(
    network: nn.Module, config: Config, state: State, *, numbers: range, seed: int, sites: Sequence[Site]
) -> Draws:
    """Nothing: every draw is the network itself."""
    return {}

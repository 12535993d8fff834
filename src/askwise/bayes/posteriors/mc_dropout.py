"""Dropout left on: a draw is a set of masks (Gal and Ghahramani 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes import dropout
from askwise.bayes.learning import Job, Learned, State, learn
from askwise.bayes.length_scale import weight_decays
from askwise.bayes.sites import Site
from askwise.errors import InputError, above_zero, at_least_zero
from askwise.train import Adam
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True)
class Config:
    """Weight decay as given, or from a length-scale and the precision tau of the observations.

    `weight_decay` adds weight_decay * w to the gradient of the mean loss.
    """

    name: ClassVar[str] = "mc_dropout"
    dropout: ClassVar[bool] = True
    weight_decay: float | None = None
    length_scale: float | None = None
    tau: float = 1.0

    def __post_init__(self) -> None:
        if self.weight_decay is not None and self.length_scale is not None:
            raise InputError("mc_dropout takes weight_decay or length_scale, not both")
        if self.weight_decay is not None:
            at_least_zero("weight_decay", self.weight_decay)
        if self.length_scale is not None:
            above_zero("length_scale", self.length_scale)
        above_zero("tau", self.tau)


def fit(network: nn.Module, config: Config, job: Job) -> Learned:
    """Weights that maximise the likelihood under dropout, learned in place."""
    if not dropout.find(network, job.example):
        raise InputError("mc_dropout needs a network that calls dropout with p > 0, and this one does not")
    if config.length_scale is None:
        decays = dict.fromkeys(dict(network.named_parameters()), config.weight_decay or 0.0)
    else:
        decays = weight_decays(
            network, job.example, length_scale=config.length_scale, tau=config.tau, count=len(job.data)
        )
    groups = [
        {"params": [parameter], "weight_decay": decays[name]}
        for name, parameter in network.named_parameters()
        if parameter.requires_grad
    ]
    return Learned({}, learn(network, Adam(groups, lr=job.training.lr), job))


def draw(
    network: nn.Module, config: Config, state: State, *, numbers: range, seed: int, sites: Sequence[Site]
) -> Draws:
    """One mask of zeros and ones per dropout call and draw."""
    return dropout.draw(sites, numbers=numbers, seed=seed)

"""Dropout left on: a draw is a set of masks (Gal and Ghahramani 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes.learning import Job, Learned, State, learn, learnable
from askwise.bayes.posteriors.length_scale import weight_decays
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program import dropout
from askwise.bayes.program.trace import DropoutCall
from askwise.errors import InputError, above_zero
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """Dropout as the network has it, under the training's prior or under that of a length-scale.

    `length_scale` l is Gal's prior N(0, 1/l^2) of the weights before dropout: a weight decay of
    l^2 / (keep * number of labels) for a weight behind a dropout that keeps a unit with probability
    `keep`. The precision tau of the observations belongs to the task: `regression(tau=...)`.
    """

    name: ClassVar[str] = "mc_dropout"
    dropout: ClassVar[bool] = True
    length_scale: float | None = None

    def __post_init__(self) -> None:
        if self.length_scale is not None:
            above_zero("length_scale", self.length_scale)

    def fit(self, network: nn.Module, job: Job) -> Learned:
        """Weights that maximise the likelihood under dropout, learned in place."""
        if not dropout.find(network, job.example):
            raise InputError(
                "mc_dropout needs a network that calls dropout with p > 0, and this one does not"
            )
        decays = None
        if self.length_scale is not None:
            if job.training.weight_decay or job.training.prior_precision:
                raise InputError(
                    "length_scale is a prior of its own; leave weight_decay and prior_precision out"
                )
            decays = weight_decays(network, job.example, length_scale=self.length_scale, count=len(job.data))
        return Learned({}, learn(network, job.optimizer(learnable(network), decays=decays), job))

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """One mask of zeros and ones per dropout call and draw."""
        return dropout.draw(dropouts, numbers=numbers, seed=seed)

"""One set of weights, as ordinary training leaves them: the control of every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from askwise.bayes.learning import Learned, State, TrainingJob, learn, learnable
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program.trace import DropoutCall
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """One set of weights: the most probable ones under the training's prior.

    >>> model = aw.fit(network, (x, y), posterior=aw.point(), training=short)
    >>> aw.predict(model, x, draws=5).epistemic.max() < 1e-5
    tensor(True)
    """

    name: ClassVar[str] = "point"
    dropout: ClassVar[bool] = False

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Weights that maximise the likelihood, learned in place."""
        return Learned({}, learn(network, job.optimizer(learnable(network)), job))

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Nothing: every draw is the network itself."""
        return {}

"""Dropout left on: a draw is a set of masks (Gal and Ghahramani 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from askwise.bayes.learning import Learned, State, TrainingJob, learn, learnable
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program import dropout
from askwise.bayes.program.trace import DropoutCall, tensors_of, trace
from askwise.errors import InputError, above_zero
from askwise.types import Draws


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """Dropout as the network has it, under the training's prior or under that of a length-scale.

    `length_scale` l is Gal's prior N(0, 1/l^2) of the weights before dropout: a weight decay of
    l^2 / (keep * number of labels) for a weight behind a dropout that keeps a unit with probability
    `keep`. The precision tau of the observations belongs to the task: `regression(tau=...)`.

    >>> model = aw.fit(network, (x, y), posterior=aw.mc_dropout(), training=short)
    >>> aw.log_probs(model, x, draws=10).shape
    torch.Size([60, 10, 2])
    """

    name: ClassVar[str] = "mc_dropout"
    dropout: ClassVar[bool] = True
    length_scale: float | None = None

    def __post_init__(self) -> None:
        if self.length_scale is not None:
            above_zero("length_scale", self.length_scale)

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """Weights that maximise the likelihood under dropout, learned in place."""
        self.suits(network, job.example)
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

    def suits(self, network: nn.Module, item: Tensor) -> None:
        """Refuse a network without dropout."""
        if not dropout.find(network, item):
            raise InputError(
                "mc_dropout needs a network that calls dropout with p > 0, and this one does not"
            )


def keep_probabilities(network: nn.Module, inputs: Tensor) -> dict[str, float]:
    """For every parameter, the keep probability of the dropout on what it is multiplied with; 1 without.

    Followed through the graph: activations, pooling and reshaping carry a mask on, a layer ends it.
    """
    dropouts = dropout.find(network, inputs)
    traced = trace(network, tensors_of(network), inputs[:1], dropouts=dropouts)
    keeps = {one.name: one.keep for one in dropouts}
    parameters = dict(network.named_parameters())
    found = dict.fromkeys(parameters, 1.0)
    tag: dict[torch.fx.Node, tuple[str | None, float]] = {}  # (a parameter's name, keep of a value)
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            name = node.meta["name"]
            tag[node] = (name if name in parameters else None, keeps.get(name, 1.0))
            continue
        inputs_ = [tag[n] for n in node.all_input_nodes]
        names = [name for name, _ in inputs_ if name is not None]
        keep = min((k for name, k in inputs_ if name is None), default=1.0)
        if names and len(node.all_input_nodes) > len(names):  # parameters meet a value: a layer
            found.update({name: min(found[name], keep) for name in names})
            tag[node] = (None, 1.0)
        else:
            tag[node] = (names[0] if names else None, keep)
    return found


def weight_decays(network: nn.Module, inputs: Tensor, *, length_scale: float, count: int) -> dict[str, float]:
    """What to add to each weight's gradient of the mean NLL, per unit of the weight; nothing for biases.

    Gal and Ghahramani 2016: the objective is the NLL of all N labels plus keep l^2 / 2 |M|^2, where
    the layer computes M (z x) with z in {0, 1}. torch's dropout divides by keep, so its weight is
    W = keep M, and the penalty l^2 / (2 keep) |W|^2. Their printed lambda = keep l^2 / (2 N tau) belongs
    to a squared error; the NLL has tau inside already.
    """
    keeps = keep_probabilities(network, inputs)
    return {
        name: length_scale**2 / (keeps[name] * count) if parameter.ndim > 1 else 0.0
        for name, parameter in network.named_parameters()
    }

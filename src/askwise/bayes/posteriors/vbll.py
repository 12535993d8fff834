"""A variational Bayesian last layer, learned without sampling (Harrison, Willes and Snoek 2024).

What is minimised bounds the expected loss in closed form: the variance v of every output adds its
share to the likelihood. In regression that is exact; for classes it is Jensen's inequality,
E log sum exp(z) <= log sum exp(z + v / 2). The paper's noise on the logits is left out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.bayes.learning import Learned, State, TrainingJob, learn, learnable
from askwise.bayes.place import replaced
from askwise.bayes.posteriors.last_layer import joined, last_linear, linear, parted
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program.trace import DropoutCall, outputs_of
from askwise.errors import InputError, above_zero, at_least_zero, choose
from askwise.math.gaussian import kl
from askwise.seeding import keyed_normals
from askwise.tasks import Task
from askwise.train import Terms
from askwise.types import Draws

_START = 0.05  # the standard deviation of every weight at first
_LARGEST = 2**26  # numbers in the covariances of the dense form


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Posterior):
    """The form of each output's covariance (diag, dense) and the prior N(0, prior_std^2).

    loss = bound on the mean NLL + kl_weight * KL(q||p) / number of labels, over weights and bias of
    the last layer. A kl_weight of 1 is Bayes' rule, under which a network that learns from a few
    hundred labels gives up on its last layer; the default tempers it.

    >>> aw.fit(network, (x, y), posterior=aw.vbll(), training=short).posterior.name
    'vbll'
    """

    name: ClassVar[str] = "vbll"
    dropout: ClassVar[bool] = False
    form: str = "diag"
    prior_std: float = 0.1
    kl_weight: float = 0.03

    def __post_init__(self) -> None:
        choose("form", self.form, ("diag", "dense"))
        above_zero("prior_std", self.prior_std)
        at_least_zero("kl_weight", self.kl_weight)

    def fit(self, network: nn.Module, job: TrainingJob) -> Learned:
        """The factor of every output's covariance; the means are learned in the network's own weights."""
        name = last_linear(network, job.example, who="vbll")
        layer = GaussianOutputs(linear(network, name), _start(network, name, self, job))
        correction = _correction(job.task, layer, outputs_of(network, job.example).shape[1])

        def nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
            return job.task.nll(outputs, labels, weights) + correction(outputs, labels, weights)

        def divergence(_: int) -> Terms:
            total = layer.kl(self.prior_std)
            return {"loss": self.kl_weight * total / len(job.data), "kl": total}

        bounded = replace(job, task=replace(job.task, nll=nll))
        with replaced(network, {name: layer}):
            rates = {f"{name}.factor": job.width_rate}
            optimizer = job.optimizer(learnable(network), rates=rates, gaussian=[name])
            history = learn(network, optimizer, bounded, extra=divergence)
        return Learned({f"{name}.factor": layer.factor.detach().clone()}, history)

    def suits(self, network: nn.Module, item: Tensor) -> None:
        """Refuse a network whose outputs are not those of a last Linear layer that learns."""
        last_linear(network, item, who=self.name)

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Whole weight and bias tensors of the last layer, named as the network names them."""
        ((key, factor),) = state.items()
        name = key.rpartition(".")[0]
        layer = linear(network, name)
        mean = joined(layer)
        spread = root(factor.to(mean))
        stack = keyed_normals(seed, numbers, f"{name}.weight", mean.shape)
        noise = stack.to(mean)
        noise = noise * spread if spread.ndim == 2 else torch.einsum("cde,tce->tcd", spread, noise)
        return parted(layer, name, noise + mean)


def root(factor: Tensor) -> Tensor:
    """Standard deviations [C, D], or lower triangles [C, D, D] whose squares are the covariances.

    Kept with the logarithms in place of what must be positive.
    """
    if factor.ndim == 2:
        return factor.exp()
    return factor.tril(-1) + torch.diag_embed(factor.diagonal(dim1=-2, dim2=-1).exp())


class GaussianOutputs(nn.Module):
    """A Linear layer that gives its mean outputs, and remembers their variances."""

    def __init__(self, plain: nn.Linear, factor: Tensor) -> None:
        super().__init__()
        self.weight = plain.weight
        self.register_parameter("bias", plain._parameters["bias"])
        self.factor = nn.Parameter(factor)
        self.variance: Float[Tensor, "N C"] | None = None

    @property
    def mean(self) -> tuple[nn.Parameter, ...]:
        """The parameters whose values are the means: the weight and, if there is one, the bias."""
        return tuple(p for name, p in self.named_parameters() if name != "factor")

    def forward(self, inputs: Float[Tensor, "N D"]) -> Float[Tensor, "N C"]:
        """The mean outputs."""
        wide = self.factor.shape[1]
        seen = inputs if wide == inputs.shape[1] else F.pad(inputs, (0, 1), value=1.0)
        spread = root(self.factor)
        if spread.ndim == 2:
            self.variance = seen.square() @ spread.square().T
        else:
            self.variance = torch.einsum("nd,cde->nce", seen, spread).square().sum(dim=-1)
        return F.linear(inputs, *self.mean)

    def kl(self, prior_std: float) -> Float[Tensor, ""]:
        """KL(q||p) in nats, summed over all weights."""
        spread = root(self.factor)
        if spread.ndim == 2:
            means = [m if m.ndim == 2 else m[:, None] for m in self.mean]
            return kl(torch.cat(means, dim=1), spread, prior_std)
        squares = spread.square().sum() + sum(m.square().sum() for m in self.mean)
        logs = self.factor.diagonal(dim1=-2, dim2=-1)
        return (squares / prior_std**2 - logs.numel()) / 2 - (logs - math.log(prior_std)).sum()


def _start(network: nn.Module, name: str, config: Config, job: TrainingJob) -> Tensor:
    """The factor to begin with: the job's, or small and equal deviations without correlation."""
    mean = joined(linear(network, name))
    dense = config.form == "dense"
    outputs, wide = mean.shape
    if dense and outputs * wide**2 > _LARGEST:
        raise InputError(
            f"dense vbll of {wide:,} x {outputs:,} weights has covariances of {outputs * wide**2:,} numbers; "
            "use form='diag'"
        )
    logs = torch.full_like(mean, math.log(_START))
    start = job.start.get(f"{name}.factor")
    if start is None:
        return torch.diag_embed(logs) if dense else logs
    if start.ndim != 2 + dense:
        raise InputError(f"cannot go on with form={config.form!r} from another; use start='given'")
    return start.to(mean).clone()


def _correction(
    task: Task, layer: GaussianOutputs, outputs: int
) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
    """What the variance of the outputs adds to the mean NLL of known labels, as each of them counts."""
    wide = layer.factor.shape[0]
    if task.options.get("link", "softmax") != "softmax" or task.name not in (
        "classification",
        "multilabel",
        "regression",
    ):
        raise InputError("vbll knows a bound for softmax classes, tags and numbers; use laplace() or bbb()")
    if task.name == "regression" and task.options["tau"] is None and outputs == wide:
        raise InputError(
            "vbll needs noise that is not the last layer's own: aw.nets.homoscedastic(network), "
            "or regression(tau=...)"
        )

    def each(found: Tensor, variance: Tensor) -> Tensor:
        if task.name == "regression":
            return task.curvature(found)[0][:, :wide] * variance / 2
        shifted = found + variance / 2
        if task.name == "multilabel":
            return F.softplus(shifted) - F.softplus(found)
        return shifted.logsumexp(dim=1) - found.logsumexp(dim=1)

    def correction(found: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
        assert layer.variance is not None  # noqa: S101  the layer has just been called
        more, counts = each(found, layer.variance), task.shares(labels, weights).to(found)
        more = more * (counts[:, None] if counts.ndim < more.ndim else counts)
        return more.sum() / task.known(labels).sum().clamp(min=1)

    return correction

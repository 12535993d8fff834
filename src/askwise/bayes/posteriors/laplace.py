"""A Gaussian around the mode of the last layer, as wide as the likelihood's curvature allows.

Laplace's method on the last layer of a trained network (MacKay 1992, Ritter et al. 2018, Daxberger
et al. 2021), with the prior precision chosen by the marginal likelihood.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from askwise.bayes.curvature import FORMS, Curvature, curvature, output_gain, refuse_size, rotated
from askwise.bayes.last_layer import LastLayer, joined, last_linear, linear, observe, parted
from askwise.bayes.learning import Job, Learned, State
from askwise.bayes.mode import mode
from askwise.bayes.posteriors import point
from askwise.bayes.sites import Site
from askwise.errors import above_zero, choose, positive
from askwise.math.evidence import highest, log_evidence
from askwise.seeding import generator
from askwise.types import Draws

_LOWEST, _HIGHEST = 1e-4, 1e4  # where a prior precision is looked for
_AROUND = 20  # draws over which the curvature is averaged
_WITHIN = 0.1  # of its logarithm: the evidence is flat at its top
_TURNS, _MANY = 3, 1000  # by default the curvature is refined so often; up to so many outputs
_ROUGH, _FINE = 1e-3, 1e-4  # how near to the mode, in standard deviations: while looking, and at last


@dataclass(frozen=True, kw_only=True)
class Config:
    """The form of the covariance (kron, diag, full) and the prior N(0, 1/prior_precision).

    The prior holds for weights and bias of the last layer; where it is not given, the marginal
    likelihood chooses it. The network's training comes first. Then
    the last layer is moved to its mode under the prior, on features without dropout: Laplace's
    method is about a mode, and training stops short of it.

    Where a network is sure of all its labels the curvature at the mode is nearly nought, and the
    Gaussian far too wide: accurate, and underconfident. So `refine` times the curvature is measured
    anew, as its mean over the Gaussian itself, which is the variational answer (in `askwise compare
    mnist`: NLL from .41 to .17, and doubt that tells what is strange). It changes nothing in
    regression with fixed noise. By default it is done three times, and not at all beyond 1,000
    outputs, whose decompositions take minutes; 0 is Laplace's method as it is written.
    """

    name: ClassVar[str] = "laplace"
    dropout: ClassVar[bool] = False
    form: str = "kron"
    prior_precision: float | None = None
    refine: int | None = None

    def __post_init__(self) -> None:
        choose("form", self.form, FORMS)
        if self.prior_precision is not None:
            above_zero("prior_precision", self.prior_precision)
        if self.refine:
            positive("refine", self.refine)


def fit(network: nn.Module, config: Config, job: Job) -> Learned:
    """Scales and basis of the Gaussian; its mean, the mode, is left in the last layer."""
    name = last_linear(network, job.example, who="laplace")
    layer = linear(network, name)
    refuse_size(config.form, *joined(layer).shape)
    history = point.fit(network, point.Config(), job).history
    model = observe(network, name, job)
    start = joined(layer).double()
    precision = config.prior_precision or _best_precision(model, start)
    weights, evidence = _settle(model, start, precision, _FINE)
    with torch.no_grad():
        for key, value in parted(layer, name, weights).items():
            network.get_parameter(key).copy_(value)
    bend = curvature(config.form, model, [weights])
    for turn in range(_turns(config, outputs=len(weights))):
        rng = generator(job.seed, "refine", turn)
        bend = curvature(config.form, model, _around(weights, bend, precision, rng))
    state = {"scale": (bend.values + precision).rsqrt(), **bend.basis}
    dtype = network.get_parameter(f"{name}.weight").dtype
    return Learned(
        {
            **{f"{name}.{key}": tensor.to(dtype).contiguous() for key, tensor in state.items()},
            f"{name}.prior_precision": torch.tensor(precision, dtype=torch.float64),
            f"{name}.log_evidence": torch.tensor(evidence, dtype=torch.float64),
        },
        history,
    )


def draw(
    network: nn.Module, config: Config, state: State, *, numbers: range, seed: int, sites: Sequence[Site]
) -> Draws:
    """Whole weight and bias tensors of the last layer, named as the network names them."""
    name = next(iter(state)).rpartition(".")[0]
    known = {key.removeprefix(f"{name}."): tensor for key, tensor in state.items()}
    layer = linear(network, name)
    mean = joined(layer)
    scale = known["scale"].to(mean)
    basis: dict[str, Tensor] = {
        key: known[key].to(mean) for key in ("all", "inputs", "outputs") if key in known
    }
    stack = torch.empty(len(numbers), *mean.shape, dtype=mean.dtype, device=mean.device)
    noise = torch.empty(mean.shape)
    for value, number in zip(stack, numbers, strict=True):
        noise.normal_(generator=generator(seed, "draw", number, f"{name}.weight"))
        torch.add(mean, rotated(basis, noise.to(mean) * scale), out=value)
    return parted(layer, name, stack)


def _turns(config: Config, *, outputs: int) -> int:
    if config.refine is None:
        return _TURNS if outputs <= _MANY else 0
    return config.refine


def _around(weights: Tensor, bend: Curvature, precision: float, rng: torch.Generator) -> Iterator[Tensor]:
    """Draws from the Gaussian of a curvature, each made when it is needed."""
    scale = (bend.values + precision).rsqrt()
    for _ in range(_AROUND):
        noise = torch.randn(weights.shape, generator=rng, dtype=torch.float64).to(weights)
        yield weights + rotated(bend.basis, noise * scale)


def _best_precision(model: LastLayer, weights: Tensor) -> float:
    """The prior precision of the highest marginal likelihood, each with a mode of its own.

    Measured: to keep the mode and change the precision alone (MacKay's update) ends ten times too
    high on saturated classes, whose curvature grows with the prior.
    """

    def evidence(log_precision: float) -> float:
        nonlocal weights
        weights, found = _settle(model, weights, math.exp(log_precision), _ROUGH)
        return found

    return math.exp(highest(evidence, math.log(_LOWEST), math.log(_HIGHEST), within=_WITHIN))


def _settle(model: LastLayer, weights: Tensor, precision: float, within: float) -> tuple[Tensor, float]:
    """The mode under a prior, and the log marginal likelihood there."""
    weights = mode(model, weights, precision, within=within)
    fit = sum(
        model.log_likelihood(model.outputs(model.features[items], weights, items), items).item()
        for items in model.chunks(len(weights))
    )
    gain = output_gain(model, weights, precision)
    return weights, log_evidence(fit, gain, weights.square().sum().item(), precision)

"""A Gaussian around the mode of a last layer: what laplace and modal share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from askwise.bayes.learning import State
from askwise.bayes.posteriors import precision as precisions
from askwise.bayes.posteriors.curvature import FORMS, curvature, rotated
from askwise.bayes.posteriors.last_layer import LastLayer, joined, last_linear, linear, parted
from askwise.bayes.posteriors.posterior import Posterior
from askwise.bayes.program.trace import DropoutCall
from askwise.errors import above_zero, choose
from askwise.seeding import keyed_normals
from askwise.types import Draws

_BASIS = ("axes", "outputs", "all")
_BIAS = 0.1  # of the variance that the features give to the logits: what a bias may add


@dataclass(frozen=True, kw_only=True, repr=False)
class AroundMode(Posterior):
    """A posterior on the last layer: the form of its covariance, and its prior N(0, 1/prior_precision)."""

    dropout: ClassVar[bool] = False
    form: str = "kron"
    prior_precision: float | None = None

    def __post_init__(self) -> None:
        choose("form", self.form, FORMS)
        if self.prior_precision is not None:
            above_zero("prior_precision", self.prior_precision)

    def suits(self, network: nn.Module, item: Tensor) -> None:
        """Refuse a network whose outputs are not those of a last Linear layer that learns."""
        last_linear(network, item, who=self.name)

    def draw(
        self, network: nn.Module, state: State, *, numbers: range, seed: int, dropouts: Sequence[DropoutCall]
    ) -> Draws:
        """Whole weight and bias tensors of the last layer, named as the network names them."""
        del dropouts
        return drawn(network, state, numbers=numbers, seed=seed)


@dataclass(frozen=True)
class Around:
    """The mode of a last layer and how precise the Gaussian around it is."""

    whole: LastLayer
    """What the layer sees, stretched."""
    model: LastLayer
    """The same in the span of the labelled items."""
    axes: Float[Tensor, "D R"]
    stretch: Float[Tensor, " D"]
    weights: Float[Tensor, "C R"]
    prior: float
    """The precision of the prior that the mode has."""
    width: float
    """That of the prior that the Gaussian has."""

    def state(self, network: nn.Module, name: str, form: str) -> State:
        """Scales and basis of the Gaussian; its mean, the mode, is put into the network's layer."""
        layer, mean = linear(network, name), self.weights @ self.axes.T
        with torch.no_grad():
            for key, value in parted(layer, name, mean * self.stretch).items():
                network.get_parameter(key).copy_(value)
        if form == "diag":
            bend, basis = curvature("diag", self.whole, mean), {}
        else:
            bend = curvature(form, self.model, self.weights)
            basis = {"axes": self.axes, **bend.basis}
        dtype = network.get_parameter(f"{name}.weight").dtype
        tensors = {"scale": (bend.values + self.width).rsqrt(), "stretch": self.stretch, **basis}
        numbers = {
            "prior_precision": self.prior,
            "width_precision": self.width,
            "log_evidence": precisions.evidence(self.model, self.weights, self.prior),
        }
        return {
            **{f"{name}.{key}": tensor.to(dtype).contiguous() for key, tensor in tensors.items()},
            **{f"{name}.{key}": torch.tensor(value, dtype=torch.float64) for key, value in numbers.items()},
        }


def drawn(network: nn.Module, state: State, *, numbers: range, seed: int) -> Draws:
    """Whole weight and bias tensors of the last layer, named as the network names them."""
    name = next(iter(state)).rpartition(".")[0]
    known = {key.removeprefix(f"{name}."): tensor for key, tensor in state.items()}
    layer = linear(network, name)
    mean = joined(layer)
    scale, stretch = known["scale"].to(mean), known["stretch"].to(mean)
    basis: dict[str, Tensor] = {key: known[key].to(mean) for key in _BASIS if key in known}
    beyond = known["width_precision"].item() ** -0.5
    stack = torch.empty(len(numbers), *mean.shape, dtype=mean.dtype, device=mean.device)
    for value, number in zip(stack, numbers, strict=True):
        (noise,) = keyed_normals(seed, range(number, number + 1), f"{name}.weight", mean.shape)
        torch.addcmul(mean, _moved(noise.to(mean), basis, scale, beyond), stretch, out=value)
    return parted(layer, name, stack)


def unit(seen: LastLayer) -> Float[Tensor, " D"]:
    """No stretch: every feature, the constant one of the bias too, has the prior as it is."""
    return seen.features.new_ones(seen.features.shape[1], dtype=torch.float64)


def bias_stretch(seen: LastLayer, layer: nn.Linear) -> Float[Tensor, " D"]:
    """What every feature is multiplied by: 1, and less for the constant one beside small features.

    A bias that adds more to the logits than a tenth of what the features do costs one to three
    points at 10 to 20 labels of normalised features (measured).
    """
    stretch = unit(seen)
    if layer._parameters["bias"] is not None and seen.task.supplies == "log_probs":
        stretch[-1] = min(1.0, (_BIAS * precisions.spread(seen)) ** 0.5)
    return stretch


def _moved(
    noise: Float[Tensor, "C D"], basis: dict[str, Tensor], scale: Float[Tensor, "C R"], beyond: float
) -> Float[Tensor, "C D"]:
    """Standard normal numbers with the Gaussian's covariance: the prior's across all axes but its own."""
    if "axes" not in basis:
        return noise * scale
    along = noise @ basis["axes"]
    return beyond * noise + (rotated(basis, along * scale) - beyond * along) @ basis["axes"].T

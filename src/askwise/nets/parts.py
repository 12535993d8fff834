"""What the networks have in common: activations, poolings, checked rates and sizes."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from askwise.errors import InputError, choose, positive

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "softplus": nn.Softplus, "tanh": nn.Tanh}


def activation_of(name: str) -> type[nn.Module]:
    """The module of that name."""
    return _ACTIVATIONS[choose("activation", name, _ACTIVATIONS)]


def masked_mean(
    vectors: Float[Tensor, "N length D"], there: Bool[Tensor, "N length"]
) -> Float[Tensor, "N D"]:
    """The mean over the tokens that are there; zeros for a text without any."""
    weights = there.unsqueeze(2).to(vectors.dtype)
    return (vectors * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def rate(dropout: float) -> float:
    """The rate, if it is one."""
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is a rate from 0 up to below 1, not {dropout}")
    return dropout


def after(size: int, *steps: tuple[str, int]) -> int:
    """The side of the image after steps such as `("conv", 4)` and `("pool", 2)`, without padding."""
    left = positive("size", size)
    for kind, kernel in steps:
        left = left - kernel + 1 if kind == "conv" else left // kernel
        if left < 1:
            needed = _smallest(steps)
            raise InputError(f"this network needs images of at least {needed} x {needed}, not size={size}")
    return left


def _smallest(steps: tuple[tuple[str, int], ...]) -> int:
    side = 1
    for kind, kernel in reversed(steps):
        side = side + kernel - 1 if kind == "conv" else side * kernel
    return side


_BORDERS = {32: 0, 28: 2}


def border(network: str, size: int) -> int:
    """How many pixels on each side make the image 32 x 32, for networks that are made for that."""
    if size not in _BORDERS:
        raise InputError(f"{network} takes images of 32 x 32 or 28 x 28, not size={size}")
    return _BORDERS[size]

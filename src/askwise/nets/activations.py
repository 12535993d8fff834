"""The activations that a network lets its user choose."""

from torch import nn

from askwise.errors import choose

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "softplus": nn.Softplus, "tanh": nn.Tanh}


def activation_of(name: str) -> type[nn.Module]:
    """The module of that name."""
    return _ACTIVATIONS[choose("activation", name, _ACTIVATIONS)]

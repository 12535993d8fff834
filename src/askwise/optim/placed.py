"""Weights put in place for one gradient and taken away again, whatever happens in between."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import Parameter


@contextmanager
def placed(parameters: Sequence[Parameter], values: Sequence[Tensor]) -> Iterator[None]:
    """The parameters with other values and no gradients; afterwards with their own again, to the bit."""
    own = [p.detach().clone() for p in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        _copy(parameters, values)
        yield
    finally:
        _copy(parameters, own)


def _copy(parameters: Sequence[Parameter], values: Sequence[Tensor]) -> None:
    with torch.no_grad():
        torch._foreach_copy_(list(parameters), list(values))


def gradients(parameters: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of each tensor; zeros where the loss does not depend on it."""
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]


def normal(like: Sequence[Tensor], rng: torch.Generator) -> list[Tensor]:
    """Standard normal noise in the shapes of some tensors, one after the other from one stream."""
    # In the order of the shape, not of the memory: a layout with the channels last has the same noise.
    return [torch.randn(t.shape, generator=rng, device=t.device, dtype=t.dtype) for t in like]

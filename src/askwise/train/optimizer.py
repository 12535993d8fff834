"""What the epoch loop asks of an optimizer, and the plain one."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, runtime_checkable

import torch
from torch.nn import Parameter


@runtime_checkable
class Optimizer(Protocol):
    """Learns from `samples` gradients a step, each computed inside `sampling()`.

    On entry gradients are cleared and the weights may be perturbed; on exit, also by an exception,
    the weights are what they were.
    """

    samples: int

    def sampling(self) -> AbstractContextManager[None]:
        """Where one loss is computed and differentiated."""
        ...

    def step(self) -> Any:
        """Move the weights."""
        ...


class Adam:
    """Adam, fused: one gradient a step, at the weights themselves."""

    samples = 1

    def __init__(self, parameters: Iterable[Parameter] | Iterable[dict[str, Any]], *, lr: float) -> None:
        self._adam = torch.optim.Adam(parameters, lr=lr, fused=True)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Clears the gradients."""
        self._adam.zero_grad(set_to_none=True)
        yield

    def step(self) -> None:
        """Move the weights."""
        self._adam.step()

"""What the gradient samples of one step add up to."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from askwise.errors import InputError, positive


class Samples:
    """Sums over the samples of a step, by name; each sum is a list of tensors, one per parameter."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.taken = positive("samples", wanted), 0
        self._sums: dict[str, list[Tensor]] = {}

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Where a sample is computed; if that fails, the step starts over without its earlier samples."""
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self.clear()

    def add(self, **parts: list[Tensor]) -> None:
        """Count one sample."""
        for name, tensors in parts.items():
            if self.taken:
                torch._foreach_add_(self._sums[name], tensors)
            elif self.wanted > 1:  # these are added to later, and must be ours
                self._sums[name] = [tensor.clone() for tensor in tensors]
            else:
                self._sums[name] = tensors
        self.taken += 1

    def means(self) -> dict[str, list[Tensor]]:
        """The mean of everything that was added; the next step starts anew."""
        if self.taken != self.wanted:
            raise InputError(
                f"step() needs {self.wanted} gradient samples and has {self.taken}; compute every loss and "
                "call backward() inside `with optimizer.sampling():`"
            )
        found = self._sums
        if self.wanted > 1:
            for tensors in found.values():
                torch._foreach_div_(tensors, self.wanted)
        self.clear()
        return found

    def refuse_open(self) -> None:
        """An error between sampling() and step(), where a saved state would be half a step."""
        if self.taken:
            raise InputError("an optimizer is saved between its steps; call step() first")

    def clear(self) -> None:
        """Forget the samples of this step."""
        self.taken, self._sums = 0, {}

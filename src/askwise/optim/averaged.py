"""Adam for what stays deterministic beside Gaussian weights: on the mean of the samples' gradients."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch.nn import Parameter

from askwise.optim.placed import gradients
from askwise.optim.samples import Samples


class AveragedAdam(torch.optim.Adam):
    """Adam that takes `samples` gradients a step and moves by their mean; it may have no parameters."""

    def __init__(self, parameters: Sequence[Parameter], *, lr: float, samples: int = 1) -> None:
        super().__init__([{"params": list(parameters)}], lr=lr, fused=True)
        self._parameters, self._samples = list(parameters), Samples(samples)
        self.samples = samples

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """One gradient, at the weights as they are; it counts in the next step."""
        self.zero_grad(set_to_none=True)
        with self._samples.guarded():
            yield
            if self._parameters:
                self._samples.add(gradient=gradients(self._parameters))

    def step(self) -> None:  # type: ignore[override]
        """Move the weights."""
        if self._parameters:
            means = self._samples.means()["gradient"]
            for parameter, mean in zip(self._parameters, means, strict=True):
                parameter.grad = mean
            super().step()

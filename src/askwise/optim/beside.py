"""Gaussian weights and deterministic ones, learned by one optimizer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch.nn import Parameter

from askwise.optim.ivon import IVON
from askwise.optim.sampling import Samples, gradients

Groups: TypeAlias = Sequence[Parameter] | Sequence[Mapping[str, Any]]
"""Parameters, or groups of them with options of their own, as torch's optimizers take them."""


class AveragedAdam(torch.optim.Adam):
    """Adam that takes `samples` gradients a step and moves by their mean; it may have no parameters."""

    def __init__(self, parameters: Groups, *, lr: float, samples: int = 1) -> None:
        plain = [one for one in parameters if isinstance(one, Parameter)]
        groups = [dict(one) for one in parameters if isinstance(one, Mapping)]
        super().__init__(groups or [{"params": plain}], lr=lr, fused=True)
        self._parameters = [p for group in self.param_groups for p in group["params"]]
        self._samples = Samples(samples)
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


class Beside:
    """IVON for its own parameters and Adam for `rest`, which may be groups, as one optimizer.

    >>> first, *_, last = network.parameters()
    >>> rng = torch.Generator().manual_seed(0)
    >>> optimizer = aw.optim.Beside(aw.optim.IVON([last], lr=0.1, count=len(x), rng=rng), [first], lr=1e-3)
    >>> with optimizer.sampling():
    ...     torch.nn.functional.cross_entropy(network(x), y).backward()
    >>> optimizer.step()
    """

    def __init__(self, gaussian: IVON, rest: Groups, *, lr: float) -> None:
        self.gaussian = gaussian
        self.rest = AveragedAdam(rest, lr=lr, samples=gaussian.samples)
        self.samples, self.parts = gaussian.samples, (gaussian, self.rest)

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sampled weights in place of the means of the Gaussian ones."""
        with self.rest.sampling(), self.gaussian.sampling():
            yield

    def step(self) -> None:
        """Move both."""
        self.gaussian.step()
        self.rest.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything a later step depends on."""
        return {"gaussian": self.gaussian.state_dict(), "rest": self.rest.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state; later steps are the same to the bit."""
        self.gaussian.load_state_dict(state_dict["gaussian"])
        self.rest.load_state_dict(state_dict["rest"])

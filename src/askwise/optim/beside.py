"""Gaussian weights and deterministic ones, learned by one optimizer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch.nn import Parameter

from askwise.optim.averaged import AveragedAdam
from askwise.optim.ivon import IVON


class Beside:
    """IVON for its own parameters and Adam for `rest`, as one optimizer."""

    def __init__(self, gaussian: IVON, rest: Sequence[Parameter], *, lr: float) -> None:
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
        """Go on from there, to the bit."""
        self.gaussian.load_state_dict(state_dict["gaussian"])
        self.rest.load_state_dict(state_dict["rest"])

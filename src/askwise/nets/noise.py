"""Adds a learned noise level, the same for every item, to a network that gives means."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from askwise.errors import InputError, positive
from askwise.nets.recipe import recorded


class Homoscedastic(nn.Module):
    """A network of means with learned log-variances beside them."""

    def __init__(self, network: nn.Module, outputs: int, log_variance: float) -> None:
        super().__init__()
        self.network = network
        self._start = float(log_variance)
        self.log_variance = nn.Parameter(torch.full((outputs,), self._start))

    def reset_parameters(self) -> None:
        """Put the log-variances where they began."""
        nn.init.constant_(self.log_variance, self._start)

    def forward(self, inputs: Tensor) -> Float[Tensor, "N E"]:
        """The means, then their log-variances."""
        means: Tensor = self.network(inputs)
        wanted = len(self.log_variance)
        if means.ndim != 2 or wanted not in (1, means.shape[1]):
            raise InputError(
                f"the network gives {list(means.shape)}, and outputs={wanted} log-variances go with "
                f"[N, {wanted if wanted > 1 else 'D'}]"
            )
        return torch.cat([means, self.log_variance.expand_as(means)], dim=1)


@recorded
def homoscedastic(network: nn.Module, *, outputs: int = 1, log_variance: float = 0.0) -> Homoscedastic:
    """A network that gives means [N, D] made to give [N, 2D]: means and learned log-variances.

    One log-variance for each of the `outputs` means; a single one serves however many there are.
    It begins at `log_variance`: 0 suits targets of unit variance.

    >>> aw.nets.homoscedastic(aw.nets.mlp(4, 1))(x).shape  # a mean, and one log-variance for all
    torch.Size([60, 2])
    """
    return Homoscedastic(network, positive("outputs", outputs), log_variance)

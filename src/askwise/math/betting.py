"""Wealth of a bet against a claimed mean of bounded values: it grows where the claim is wrong.

The capital starts at 1 and is a fair game under the true mean, so it ever reaches 1/alpha with a chance of at
most alpha (Ville 1939), however often one looks (Waudby-Smith and Ramdas 2023).
"""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_HALVINGS = 50  # of [0, 1]: below the rounding of what is shown


def log_capital(
    values: Float[Tensor, "*runs V n"],
    mean: Float[Tensor, "*runs"],
    edge: Float[Tensor, "*runs V"],
    shares: Sequence[float],
) -> Float[Tensor, "*runs"]:
    """Log of the mean capital over V readings of the values and over all shares put at stake.

    `edge` is the bound of each reading on the side that is bet against: with the upper bound the capital
    grows where the values are below `mean`, with the lower bound where they are above it. It is then monotone
    in `mean`, so that a limit can be found by bisection.
    """
    near, far = (edge - mean.unsqueeze(-1)).unsqueeze(-1), edge.unsqueeze(-1) - values
    at_edge = torch.where(far == 0, 1.0, torch.inf)  # a mean at the edge allows values at the edge alone
    ratio = torch.where(near == 0, at_edge, far / near)
    stakes = torch.tensor(shares, dtype=values.dtype, device=values.device)
    grown = torch.log1p(stakes * (ratio.unsqueeze(-1) - 1)).sum(dim=-2)  # [*runs, V, shares]
    return grown.flatten(-2).logsumexp(dim=-1) - math.log(grown.shape[-1] * grown.shape[-2])


def last_kept(
    excluded: Callable[[Float[Tensor, "*runs"]], Bool[Tensor, "*runs"]],
    kept: Float[Tensor, "*runs"],
    end: Float[Tensor, "*runs"],
) -> Float[Tensor, "*runs"]:
    """The border between `kept` and the end beyond it; just on its far side, so that nothing is cut off."""
    for _ in range(_HALVINGS):
        middle = (kept + end) / 2
        out = excluded(middle)
        kept, end = torch.where(out, kept, middle), torch.where(out, middle, end)
    return end

"""Orders that follow scores and ids, never positions: a shuffled pool gives the same picks."""

from collections.abc import Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from askwise.seeding import derive, hashes
from askwise.types import Picks, Scores

Ids: TypeAlias = Sequence[str] | Sequence[int]


def best(scores: Scores, *, count: int, seed: int, ids: Ids) -> Picks:
    """Positions of the `count` highest scores, best first; equal scores in the order of their hashes.

    Only ids that reach the last place are hashed, so ten million scores cost one pass of torch.
    """
    last = scores.topk(count).values[-1]
    reach = (scores >= last).nonzero().squeeze(1)
    reach = reach[shuffled(seed=seed, ids=[ids[i] for i in reach.tolist()]).to(reach.device)]
    order = scores[reach].sort(descending=True, stable=True).indices
    return reach[order[:count]].cpu()


def shuffled(*, seed: int, ids: Ids) -> Int64[Tensor, " N"]:
    """All positions in the order of their ids' hashes.

    A choice made in this order, with ties going to the first, depends on seed and ids alone.
    """
    return hashes(seed, ids).sort(stable=True).indices


def gumbel(*, seed: int, ids: Ids) -> Float64[Tensor, " N"]:
    """Standard Gumbel noise for every id, decided by the seed and the id alone."""
    uniform = (hashes(derive(seed, "gumbel"), ids).double() + 0.5) / 2**56
    return -(-torch.log1p(-uniform.clamp(max=1 - 2**-53))).log()

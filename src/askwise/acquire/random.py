"""Ask at random: the yardstick, and it costs no prediction."""

from collections.abc import Sequence

import torch

from askwise.seeding import hashes
from askwise.types import Scores


def random(ids: Sequence[str] | Sequence[int], *, seed: int = 0) -> Scores:
    """A number in [0, 1) for every id, decided by the seed and the id alone."""
    return hashes(seed, ids).to(torch.float64) / 2**56

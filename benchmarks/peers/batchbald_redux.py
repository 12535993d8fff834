"""batchbald_redux, by BatchBALD's author."""

import math
from collections.abc import Callable

import torch
from batchbald_redux.batchbald import get_batchbald_batch

from peers.common import rows


def batchbald(*, file: str, n: int, picks: int, samples: int, dtype: str = "float64") -> Callable[[], dict]:
    """In float64, as its own examples run it, unless told otherwise."""
    kind = getattr(torch, dtype)
    log_probs = rows(file, n).to(kind)

    def run() -> dict:
        found = get_batchbald_batch(log_probs, picks, samples, dtype=kind)
        return {"picks": found.indices, "nan": sum(map(math.isnan, found.scores))}

    return run


TASKS = {"batchbald": batchbald}

"""Scores with noise, so that a batch is not ten times the same question (Kirsch et al. 2021).

Adding Gumbel noise and taking the highest is sampling without replacement. The noise belongs to
the id, so order and sharding of the pool do not change it.
"""

import math

import torch
from jaxtyping import Float64
from torch import Tensor

from askwise.errors import InputError
from askwise.selection.order import Ids, best, gumbel, shuffled
from askwise.types import Picks, Scores


def power(scores: Scores, *, count: int, seed: int, ids: Ids, beta: float = 1.0) -> Picks:
    """Items drawn without replacement, each with chances in proportion to score^beta.

    A score of 0 is drawn only when nothing else is left.
    """
    if (scores < 0).any():
        raise InputError(
            f"power takes scores of at least 0, and the lowest is {scores.min().item():.3g}; "
            "use softmax or softrank"
        )
    return _perturbed(scores.double().log() * _checked(beta), count, seed, ids)


def softmax(scores: Scores, *, count: int, seed: int, ids: Ids, beta: float = 1.0) -> Picks:
    """Items drawn without replacement, each with chances in proportion to exp(beta * score)."""
    return _perturbed(scores.double() * _checked(beta), count, seed, ids)


def softrank(scores: Scores, *, count: int, seed: int, ids: Ids, beta: float = 1.0) -> Picks:
    """Items drawn without replacement, each with chances in proportion to rank^-beta, the best of rank 1."""
    order = shuffled(seed=seed, ids=ids).to(scores.device)
    order = order[scores[order].sort(descending=True, stable=True).indices]
    ranks = torch.arange(1, len(scores) + 1, dtype=torch.float64, device=scores.device)
    log_ranks = torch.empty_like(ranks).scatter_(0, order, ranks.log())
    return _perturbed(-_checked(beta) * log_ranks, count, seed, ids)


def _perturbed(log_chances: Float64[Tensor, " N"], count: int, seed: int, ids: Ids) -> Picks:
    """The `count` highest of log-chances plus noise, drawn first to last."""
    noise = gumbel(seed=seed, ids=ids).to(log_chances.device)
    return best(log_chances + noise, count=count, seed=seed, ids=ids)


def _checked(beta: float) -> float:
    """`beta`, if it is a finite number above 0."""
    if isinstance(beta, bool) or not math.isfinite(beta) or beta <= 0:
        raise InputError(f"beta must be a finite number above 0, not {beta!r}")
    return beta

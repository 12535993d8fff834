"""Counts of what is taken for what [true][guessed], and what they say of every class."""

from collections.abc import Sequence

import torch
from jaxtyping import Int64
from torch import Tensor


def count(
    guess: Int64[Tensor, " N"], truth: Int64[Tensor, " N"], classes: int
) -> Int64[Tensor, "classes classes"]:
    """The confusion matrix."""
    return torch.bincount(truth * classes + guess, minlength=classes**2).reshape(classes, classes)


def recall(counts: Int64[Tensor, "C C"]) -> list[float | None]:
    """The share of each class that is guessed right; None for a class that does not occur."""
    return _shares(counts.diagonal(), counts.sum(dim=1))


def overlap(counts: Int64[Tensor, "C C"]) -> list[float | None]:
    """Intersection by union of each class; None for one that is neither true nor guessed."""
    hits = counts.diagonal()
    return _shares(hits, counts.sum(dim=0) + counts.sum(dim=1) - hits)


def mean(shares: Sequence[float | None]) -> float | None:
    """The mean over the classes that have a share; None if none has."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _shares(part: Int64[Tensor, " C"], whole: Int64[Tensor, " C"]) -> list[float | None]:
    return [a / b if b else None for a, b in zip(part.tolist(), whole.tolist(), strict=True)]

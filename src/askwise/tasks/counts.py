"""Counts behind the metrics of classes: the confusion matrix [true][guessed], and bins of confidence."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

_BINS = 15  # of confidence, as Guo et al. 2017


def bins(confidence: Float[Tensor, " N"], right: Bool[Tensor, " N"]) -> list[list[float]]:
    """Items of about equal confidence: [how many, mean confidence, accuracy] for each bin."""
    place = (confidence * _BINS).ceil().long().sub(1).clamp(0, _BINS - 1)  # a bin holds its upper edge
    found = []
    for number in range(_BINS):
        inside = place == number
        count = int(inside.sum())
        sure = confidence[inside].mean().item() if count else 0.0
        hits = right[inside].double().mean().item() if count else 0.0
        found.append([float(count), sure, hits])
    return found


def calibration_error(found: Sequence[Sequence[float]]) -> float:
    """Mean distance of confidence and accuracy over all items (expected calibration error)."""
    total = sum(count for count, _, _ in found)
    return sum(count * abs(sure - right) for count, sure, right in found) / total


def confusion(
    guess: Int64[Tensor, " N"], truth: Int64[Tensor, " N"], classes: int
) -> Int64[Tensor, "classes classes"]:
    """The confusion matrix."""
    return torch.bincount(truth * classes + guess, minlength=classes**2).reshape(classes, classes)


def recalls(counts: Int64[Tensor, "C C"]) -> list[float | None]:
    """The share of each class that is guessed right; None for a class that does not occur."""
    return _shares(counts.diagonal(), counts.sum(dim=1))


def ious(counts: Int64[Tensor, "C C"]) -> list[float | None]:
    """Intersection by union of each class; None for one that is neither true nor guessed."""
    hits = counts.diagonal()
    return _shares(hits, counts.sum(dim=0) + counts.sum(dim=1) - hits)


def mean_of(shares: Sequence[float | None]) -> float | None:
    """The mean over the classes that have a share; None if none has."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _shares(part: Int64[Tensor, " C"], whole: Int64[Tensor, " C"]) -> list[float | None]:
    return [a / b if b else None for a, b in zip(part.tolist(), whole.tolist(), strict=True)]

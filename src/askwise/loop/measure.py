"""How good a round's model is on labelled data that it never saw."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

_BINS = 15  # of confidence, as Guo et al. 2017


def measure(probs: Float[Tensor, "N C"], labels: Int64[Tensor, " N"]) -> dict[str, Any]:
    """Accuracy, negative log-likelihood, expected calibration error and Brier score.

    Beside them what a report draws: per bin of confidence [items, mean confidence, accuracy], and
    the confusion matrix [true][guessed].
    """
    probs = probs.double()
    own = probs.gather(1, labels[:, None]).squeeze(1)
    hot = torch.nn.functional.one_hot(labels, probs.shape[1])
    confidence, guess = probs.max(dim=1)
    bins = _bins(confidence, guess == labels)
    return {
        "accuracy": (guess == labels).double().mean().item(),
        "nll": -own.clamp_min(torch.finfo(torch.float32).tiny).log().mean().item(),
        "ece": sum(count * abs(sure - right) for count, sure, right in bins) / len(labels),
        "brier": (probs - hot).square().sum(dim=1).mean().item(),
        "bins": bins,
        "confusion": _confusion(guess, labels, probs.shape[1]),
    }


def _bins(confidence: Float[Tensor, " N"], right: Tensor) -> list[list[float]]:
    place = (confidence * _BINS).ceil().long().sub(1).clamp(0, _BINS - 1)  # a bin holds its upper edge
    found = []
    for number in range(_BINS):
        inside = place == number
        count = int(inside.sum())
        sure = confidence[inside].mean().item() if count else 0.0
        hits = right[inside].double().mean().item() if count else 0.0
        found.append([float(count), sure, hits])
    return found


def _confusion(guess: Int64[Tensor, " N"], labels: Int64[Tensor, " N"], classes: int) -> list[list[int]]:
    pairs: list[list[int]] = (
        torch.bincount(labels * classes + guess, minlength=classes**2).reshape(classes, classes).tolist()
    )
    return pairs

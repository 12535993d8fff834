"""Whether predictions are right as often as they are sure."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
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

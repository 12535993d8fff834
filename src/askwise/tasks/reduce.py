"""One score per item from the scores of its sites."""

import math
from collections.abc import Callable, Iterable

from askwise.errors import InputError, choose
from askwise.types import Scores, SiteScores


def reduction(reduce: str, choices: Iterable[str], *, top: float = 1.0) -> Callable[[SiteScores], Scores]:
    """The mean, sum or maximum over the sites, or the mean of the `top` fraction of them.

    Scores that are one per item already stay as they are.
    """
    choose("reduce", reduce, choices)
    if isinstance(top, bool) or not isinstance(top, int | float) or not 0 < top <= 1:
        raise InputError(f"top must be a fraction above 0 and at most 1, not {top!r}")

    def per_item(scores: SiteScores) -> Scores:
        if scores.ndim == 1:
            return scores
        flat = scores.flatten(1)
        if reduce == "mean":
            return flat.mean(dim=1)
        if reduce == "sum":
            return flat.sum(dim=1)
        count = 1 if reduce == "max" else math.ceil(top * flat.shape[1])
        return flat.topk(count, dim=1).values.mean(dim=1)

    return per_item

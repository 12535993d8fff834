"""What learning curves say: how many labels an accuracy costs, and how many were saved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from askwise.errors import InputError
from askwise.report.content import Curve
from askwise.report.number import Number

WINDOW = 3


def labels_to(target: Number, labels: Sequence[int], accuracies: Sequence[Number]) -> int | None:
    """The labels at the first round whose accuracy, averaged with the next two, reaches the target.

    None if there is no such round. The last two rounds have no full average and cannot be it:
    one lucky round is no proof.
    """
    if len(labels) != len(accuracies):
        raise InputError(f"{len(labels)} counts of labels do not fit {len(accuracies)} accuracies")
    for position in range(len(labels) - WINDOW + 1):
        # fsum, since .95 three times must reach .95 whatever the rounding
        if math.fsum(accuracies[position : position + WINDOW]) >= WINDOW * target - 1e-9:
            return labels[position]
    return None


@dataclass(frozen=True)
class Cost:
    """Labels to a target over the seeds of a curve; infinite where it was not reached."""

    median: Number
    low: Number
    high: Number
    budget: int


def cost(target: Number, curve: Curve) -> Cost:
    """The median, smallest and largest number of labels to the target over the seeds.

    A seed that never arrives counts as infinitely many, so that it cannot improve the median.
    """
    found = [labels_to(target, curve.labels, row) for row in curve.accuracy]
    needed = [math.inf if count is None else float(count) for count in found]
    return Cost(median(needed), min(needed), max(needed), curve.labels[-1])


@dataclass(frozen=True)
class Saving:
    """Fraction of the baseline's labels that were saved; `at_least` where the baseline never arrived."""

    fraction: Number
    at_least: bool


def saving(ours: Cost, baseline: Cost) -> Saving | None:
    """What was saved at equal accuracy; negative if it cost more, None if we never arrived."""
    if math.isinf(ours.median):
        return None
    if math.isinf(baseline.median):
        # The baseline needs more than its budget. If we did too, there is nothing to claim.
        bound = 1 - ours.median / baseline.budget
        return Saving(bound, at_least=True) if bound > 0 else None
    return Saving(1 - ours.median / baseline.median, at_least=False)


@dataclass(frozen=True)
class Spread:
    """Mean, lowest and highest accuracy over the seeds, for every round."""

    mean: list[Number]
    low: list[Number]
    high: list[Number]


def spread(curve: Curve) -> Spread:
    """The mean and the range over the seeds."""
    rounds = list(zip(*curve.accuracy, strict=True))
    return Spread([fmean(r) for r in rounds], [min(r) for r in rounds], [max(r) for r in rounds])

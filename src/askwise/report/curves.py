"""What learning curves say: how many labels an accuracy costs, and how many were saved."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import TypeAlias

from askwise.errors import InputError
from askwise.report.content import Curve, Number

WINDOW = 3  # rounds in a row
_ROUNDING = 1e-9


def labels_to(target: Number, labels: Sequence[int], accuracies: Sequence[Number]) -> int | None:
    """The labels at the round that completes the first three rounds in a row whose mean reaches the target.

    None if there are no such rounds. It is the round at which somebody who watches would have known:
    one lucky round is no proof, and nothing is credited before it was there.
    """
    _check(labels, accuracies)
    for last in range(WINDOW - 1, len(labels)):
        # fsum, since .95 three times must reach .95 whatever the rounding
        if math.fsum(accuracies[last - WINDOW + 1 : last + 1]) >= WINDOW * (target - _ROUNDING):
            return labels[last]
    return None


def first_hit(target: Number, labels: Sequence[int], accuracies: Sequence[Number]) -> int | None:
    """The labels at the first round that reaches the target, lucky or not; None if there is none."""
    _check(labels, accuracies)
    reached = (n for n, value in zip(labels, accuracies, strict=True) if value >= target - _ROUNDING)
    return next(reached, None)


def area(labels: Sequence[int], accuracies: Sequence[Number], *, budget: int) -> float:
    """Mean height of the curve from its first number of labels to the budget, by trapezoids over labels.

    Every curve has one, where labels to a target are unknown for runs that never arrive.
    """
    _check(labels, accuracies)
    if not labels or not labels[0] <= budget <= labels[-1]:
        reach = f"goes from {labels[0]} to {labels[-1]} labels" if labels else "has no rounds"
        raise InputError(f"the area to a budget of {budget} labels needs a curve up to it; this one {reach}")
    if budget == labels[0]:
        return float(accuracies[0])
    pieces = []
    for (before, low), (after, high) in pairwise(zip(labels, accuracies, strict=True)):
        width = min(after, budget) - before
        if width <= 0:
            break
        end = low + (high - low) * width / (after - before)  # where the budget lies between two rounds
        pieces.append(width * (low + end) / 2)
    return math.fsum(pieces) / (budget - labels[0])


Reached: TypeAlias = Callable[[Number, Sequence[int], Sequence[Number]], int | None]
"""When a curve is at a target: `labels_to` or `first_hit`."""


@dataclass(frozen=True)
class Cost:
    """Labels in all to a target over the seeds of a curve; infinite where it was not reached."""

    median: Number
    low: Number
    high: Number
    budget: int


def cost(target: Number, curve: Curve, *, by: Reached = labels_to) -> Cost:
    """The median, smallest and largest number of labels to the target over the seeds.

    Labels for validation count too. A seed that never arrives counts as infinitely many, so that it
    cannot improve the median.
    """
    found = [by(target, curve.labels, row) for row in curve.values]
    needed = [math.inf if count is None else float(count + curve.validation) for count in found]
    return Cost(median(needed), min(needed), max(needed), curve.labels[-1] + curve.validation)


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
    rounds = list(zip(*curve.values, strict=True))
    return Spread([fmean(r) for r in rounds], [min(r) for r in rounds], [max(r) for r in rounds])


def _check(labels: Sequence[int], accuracies: Sequence[Number]) -> None:
    if len(labels) != len(accuracies):
        raise InputError(f"{len(labels)} counts of labels do not fit {len(accuracies)} accuracies")

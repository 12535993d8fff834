"""What runs came to, as plain values for scripts: curves, labels to a target, what was saved."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from askwise.report.content import Curve
from askwise.report.curves import Cost, cost, labels_to
from askwise.report.number import Number
from askwise.report.past import Past

TARGETS: Mapping[str, Number] = {"labels_to_90": 0.90, "labels_to_95": 0.95}


def of_run(run: Past) -> dict[str, Any]:
    """Labels and accuracy of every round, and labels to 90 % and 95 %: None where more than the budget."""
    metrics = run.metrics()
    labels = list(metrics)
    accuracy = [metrics[count]["accuracy"] for count in labels]
    reached = {name: labels_to(target, labels, accuracy) for name, target in TARGETS.items()}
    return {"labels": labels, "accuracy": accuracy, **reached}


def of_curves(curves: Sequence[Curve], *, baseline: str = "random") -> dict[str, dict[str, Any]]:
    """For each method the labels to a target: median, lowest, highest, fraction of the baseline's."""
    base = next((curve for curve in curves if curve.name == baseline), None)
    found: dict[str, dict[str, Any]] = {}
    for curve in curves:
        found[curve.name] = {}
        for name, target in TARGETS.items():
            ours = cost(target, curve)
            fraction = _fraction(ours, cost(target, base)) if base is not None else None
            found[curve.name][name] = {
                "median": _finite(ours.median),
                "min": _finite(ours.low),
                "max": _finite(ours.high),
                "fraction_of_random": fraction,
            }
    return found


def _fraction(ours: Cost, baseline: Cost) -> Number | None:
    if math.isinf(ours.median) or math.isinf(baseline.median):
        return None  # at least one never arrived: there is no fraction, only a bound
    return ours.median / baseline.median


def _finite(value: Number) -> Number | None:
    return None if math.isinf(value) else value

"""What runs came to, as plain values for scripts: curves, areas, labels to a target, what was saved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from askwise.report.content import Curve, Number
from askwise.report.curves import Cost, Reached, cost, first_hit, labels_to
from askwise.report.gaps import Gap, gaps
from askwise.report.past import Past

TARGETS: Mapping[str, tuple[Reached, Number]] = {
    "labels_to_90": (labels_to, 0.90),
    "first_hit_90": (first_hit, 0.90),
    "labels_to_95": (labels_to, 0.95),
    "first_hit_95": (first_hit, 0.95),
}


def of_run(run: Past) -> dict[str, Any]:
    """Labels and the first metric of every round; of an accuracy also labels to 90 % and 95 %.

    Those are None where they are more than the budget.

    `labels` were trained on; labels to a target are totals, with those for `validation`.
    """
    metrics = run.metrics()
    labels = list(metrics)
    measure = run.task.measures[0]
    values = [metrics[count][measure] for count in labels]
    told = {"labels": labels, "metric": measure, measure: values, "validation": run.validation}
    if measure != "accuracy":
        return told
    found = {name: by(target, labels, values) for name, (by, target) in TARGETS.items()}
    reached = {name: None if count is None else count + run.validation for name, count in found.items()}
    return {**told, **reached}


def of_curves(
    curves: Sequence[Curve], *, baseline: str = "random", budget: int | None = None
) -> dict[str, dict[str, Any]]:
    """For each method n, its area to the budget beside the baseline's, and its labels to a target.

    The area is the number to compare by. Labels to a target are totals over the seeds (median, lowest,
    highest, and the median as a fraction of the baseline's), with those for `validation`.
    """
    base = next((curve for curve in curves if curve.name == baseline), None)
    areas = gaps(curves, baseline=baseline, budget=budget)
    found: dict[str, dict[str, Any]] = {}
    for curve in curves:
        found[curve.name] = {
            "n": len(curve.seeds),
            "validation": curve.validation,
            "area": {"budget": areas.budget, **_area(areas.methods[curve.name])},
        }
        for name, (by, target) in TARGETS.items():
            ours = cost(target, curve, by=by)
            fraction = _fraction(ours, cost(target, base, by=by)) if base is not None else None
            found[curve.name][name] = {
                "median": _finite(ours.median),
                "min": _finite(ours.low),
                "max": _finite(ours.high),
                "fraction_of_random": fraction,
            }
    return found


def _area(gap: Gap) -> dict[str, Any]:
    """The mean area, and the difference or why there is none."""
    told: dict[str, Any] = {"mean": gap.area}
    if gap.difference is not None:
        told["difference"] = {
            **asdict(gap.difference),
            "adjusted_p": gap.adjusted_p,
            "verdict": gap.verdict,
        }
    elif gap.why:
        told["why"] = gap.why
    return told


def _fraction(ours: Cost, baseline: Cost) -> Number | None:
    if math.isinf(ours.median) or math.isinf(baseline.median):
        return None  # at least one never arrived: there is no fraction, only a bound
    return ours.median / baseline.median


def _finite(value: Number) -> Number | None:
    return None if math.isinf(value) else value

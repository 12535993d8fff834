"""How numbers are written for people."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from askwise.report.content import Number
from askwise.report.curves import Cost, Saving

NARROW = "\u202f"  # no line break between a number and its sign


def percent(fraction: Number, *, digits: int = 1) -> str:
    """A fraction as e.g. `94.2 %`."""
    return f"{100 * fraction:.{digits}f}{NARROW}%"


def count(value: Number) -> str:
    """A whole number with thousands apart; halves come from medians."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def total(labels: int, *, validation: int = 0) -> str:
    """All labels that somebody had to give, e.g. `240 labels + 100 for validation`."""
    unit = "label" if labels == 1 else "labels"
    return f"{count(labels)} {unit}" + (f" + {count(validation)} for validation" if validation else "")


def axis_of_labels(validation: Iterable[int]) -> str:
    """What an axis counts: `labels`, or `labels (and 100 for validation)` where some curve needed those."""
    most = max(validation, default=0)
    return f"labels (and {count(most)} for validation)" if most else "labels"


def labels(found: Cost) -> str:
    """The median of a cost; never reached is more than the budget."""
    return f">{NARROW}{count(found.budget)}" if math.isinf(found.median) else count(found.median)


def span(found: Cost) -> str:
    """The range of a cost over the seeds, or nothing where all agree."""
    if found.low == found.high:
        return ""
    high = f">{NARROW}{count(found.budget)}" if math.isinf(found.high) else count(found.high)
    return f"{count(found.low)}–{high}" if math.isfinite(found.low) else ""


def saved(found: Saving | None) -> str:
    """A saving as e.g. `45 %`, `more than 30 %`, or a dash where nothing can be said."""
    if found is None:
        return "–"
    sign = "−" if round(found.fraction, 2) < 0 else ""
    return f"{f'>{NARROW}' if found.at_least else ''}{sign}{percent(abs(found.fraction), digits=0)}"


def points(fraction: Number) -> str:
    """A difference of fractions in percentage points with its sign, e.g. `+1.42`."""
    written = f"{100 * abs(fraction):.2f}"
    sign = "" if float(written) == 0 else "−" if fraction < 0 else "+"
    return f"{sign}{written}"


def between(low: Number, high: Number) -> str:
    """An interval of differences in percentage points, e.g. `−0.21 to +3.05`."""
    return f"{points(low)} to {points(high)}"


def value(found: Number, *, share: bool, digits: int = 1) -> str:
    """A measure: a share as a percentage, a number with four digits that count."""
    return percent(found, digits=digits) if share else f"{found:.4g}"


def gap(found: Number, *, share: bool) -> str:
    """A difference of measures with its sign: of shares in percentage points."""
    return points(found) if share else f"{found:+.3g}".replace("-", "−")


def measure(name: str) -> str:
    """A measure as a person calls it, e.g. `mean IoU`."""
    known = {"top_1": "top-1", "top_5": "top-5", "rmse": "RMSE", "nll": "NLL", "mean_iou": "mean IoU"}
    known |= {"f1_micro": "micro F1", "f1_macro": "macro F1", "recall_micro": "recall"}
    return known.get(name, name.replace("_", " "))


def p_value(value: Number) -> str:
    """A p-value with three digits; what is smaller is said to be."""
    return f"<{NARROW}0.001" if value < 0.001 else f"{value:.3f}"


def seeds(counts: Iterable[int]) -> str:
    """How many seeds methods have, e.g. `n = 3` or `n = 2 to 3`."""
    found = sorted(set(counts))
    return f"n = {found[0]}" if len(found) == 1 else f"n = {found[0]} to {found[-1]}"


def seconds(value: Number) -> str:
    """A duration in the unit that fits."""
    if value < 1:
        return f"{1000 * value:.0f}{NARROW}ms"
    if value < 120:
        return f"{value:.1f}{NARROW}s"
    return f"{value / 60:.1f}{NARROW}min" if value < 7200 else f"{value / 3600:.1f}{NARROW}h"


def decimal(value: Number) -> str:
    """A score or a metric with three digits that count."""
    return f"{value:.3g}" if abs(value) < 0.001 and value else f"{value:.3f}"


def flat(values: Mapping[str, Any], *, prefix: str = "") -> list[tuple[str, str]]:
    """Nested settings as lines such as `("training.epochs", "30")`."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            lines += flat(value, prefix=f"{prefix}{key}.")
        elif isinstance(value, list | tuple):
            lines.append((f"{prefix}{key}", ", ".join(map(str, value)) or "–"))
        else:
            lines.append((f"{prefix}{key}", "–" if value is None or value == {} else str(value)))
    return lines

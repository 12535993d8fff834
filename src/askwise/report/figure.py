"""Learning curves as a picture in a file, for papers and read-mes."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from askwise.errors import InputError
from askwise.report.content import Curve
from askwise.report.curves import spread
from askwise.report.wording import axis_of_labels

# Those of the page in its light form: told apart by people who do not see all colours.
COLOURS = ("#00629e", "#c45200", "#00805e", "#a6488a", "#946200", "#4a5bd0")
GREY = "#6b7480"
_MARKERS = "os^Dv*"
_FORMATS = (".pdf", ".png", ".svg")


def figure(curves: Sequence[Curve], *, title: str = "", baseline: str = "random") -> Figure:
    """Mean accuracy by labels, with the range over the seeds as a band."""
    drawn = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = drawn.subplots()
    others = [curve.name for curve in curves if curve.name != baseline]
    for curve in curves:
        over, number = spread(curve), others.index(curve.name) if curve.name in others else -1
        colour = COLOURS[number % len(COLOURS)] if number >= 0 else GREY
        axes.plot(
            curve.labels,
            [100 * value for value in over.mean],
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)] if number >= 0 else None,
            linestyle="-" if number >= 0 else "--",
            markersize=3.5,
            label=f"{curve.name} (n = {len(curve.seeds)})",
        )
        low, high = ([100 * value for value in side] for side in (over.low, over.high))
        axes.fill_between(curve.labels, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(
        xlabel=axis_of_labels(curve.validation for curve in curves), ylabel="test accuracy, %", title=title
    )
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        axes.legend(frameon=False)
    return drawn


def save(curves: Sequence[Curve], path: str | Path, *, title: str = "", baseline: str = "random") -> Path:
    """The path, where the picture now is: PNG, SVG or PDF by its ending."""
    target = target_of(path)
    figure(curves, title=title, baseline=baseline).savefig(target, dpi=160)
    return target


def target_of(path: str | Path) -> Path:
    """Where a figure goes, in a folder that is there; other endings than those of pictures are refused."""
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InputError(f"a figure ends in {', '.join(_FORMATS)}, not in {target.suffix or 'nothing'}")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target

"""Pictures of curves, light and dark."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev

from matplotlib.figure import Figure

from askwise.errors import InputError
from askwise.files import refusing, target
from askwise.report.content import Curve, Number
from askwise.report.curves import spread
from askwise.report.wording import axis_of_labels
from askwise.report.wording import measure as called

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Axis:
    """A straight scale from `low` to `high`."""

    low: Number
    high: Number
    ticks: tuple[Number, ...]
    label: str
    write: Callable[[Number], str]

    def at(self, value: Number) -> float:
        """The place of a value, in percent from the low end; values outside stop at the edge."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def axis(
    low: Number,
    high: Number,
    *,
    label: str,
    write: Callable[[Number], str],
    count: int = 5,
    snug: bool = False,
) -> Axis:
    """An axis with about `count` round ticks; unless snug, its ends are ticks too."""
    if not high > low:  # one point, or all equal: make room around it
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(s * power for s in _STEPS if s * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 10) for number in range(first, last + 1))
    if snug:
        ticks = tuple(tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9)
        return Axis(low, high, ticks, label, write)
    return Axis(ticks[0], ticks[-1], ticks, label, write)


# Those of the page in its light form: told apart by people who do not see all colours.
COLOURS = ("#00629e", "#c45200", "#00805e", "#a6488a", "#946200", "#4a5bd0")
GREY = "#6b7480"
_MARKERS = "os^Dv*"
_FORMATS = (".pdf", ".png", ".svg")
_BANDS = 4  # curves at most whose bands can still be told apart


def figure(
    curves: Sequence[Curve],
    *,
    title: str = "",
    baseline: str = "random",
    theirs: Sequence[Curve] = (),
    measure: str = "",
    along: str = "",
) -> Figure:
    """The mean of the measure by labels, with the range over the seeds as a band; the baseline is grey.

    Where bands would hide one another, the standard error of the mean is a bar at each point instead.
    `theirs` are curves that others have published: dashed, in the colour of ours of the same name.
    `along` says what is counted where it is not labels.
    """
    drawn = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = drawn.subplots()
    share = all(curve.share for curve in curves)
    factor, named = (100 if share else 1), f"test {called(curves[0].measure if curves else 'accuracy')}"
    names = dict.fromkeys(curve.name for curve in [*curves, *theirs] if curve.name != baseline)
    others, bands = list(names), len(curves) <= _BANDS
    several = any(len(curve.seeds) > 1 for curve in curves)
    spread_of = "" if not several else ", range of the seeds" if bands else ", ± standard error"
    for curve in curves:
        over, (colour, marker) = spread(curve), _look(curve.name, others)
        axes.plot(
            curve.labels,
            [factor * value for value in over.mean],
            color=colour,
            marker=marker,
            markersize=3.5,
            label=f"{curve.name} (n = {len(curve.seeds)})",
        )
        if bands:
            low, high = ([factor * value for value in side] for side in (over.low, over.high))
            axes.fill_between(curve.labels, low, high, color=colour, alpha=0.15, linewidth=0)
        elif len(curve.seeds) > 1:
            low, high = ([factor * value for value in side] for side in _errors(curve))
            axes.vlines(curve.labels, low, high, color=colour, linewidth=1)
    for curve in theirs:
        axes.plot(
            curve.labels,
            [factor * value for value in spread(curve).mean],
            color=_look(curve.name, others)[0],
            linestyle="--",
            linewidth=1,
            label=f"{curve.name}, theirs",
        )
    axes.set(
        xlabel=along or axis_of_labels(curve.validation for curve in curves),
        ylabel=f"{measure or named}{', %' if share else ''}{spread_of}",
        title=title,
    )
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        axes.legend(frameon=False)
    return drawn


def _look(name: str, others: Sequence[str]) -> tuple[str, str | None]:
    """The colour and the marker of a curve; the baseline, which is not among the others, has none."""
    if name not in others:
        return GREY, None
    number = others.index(name)
    return COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]


def _errors(curve: Curve) -> tuple[list[Number], list[Number]]:
    """The mean over the seeds minus and plus its standard error, for every round."""
    rounds = list(zip(*curve.values, strict=True))
    away = [stdev(values) / math.sqrt(len(values)) for values in rounds]
    means = spread(curve).mean
    low, high = ([mean + side * one for mean, one in zip(means, away, strict=True)] for side in (-1, 1))
    return low, high


def save(drawn: Figure, path: str | Path) -> Path:
    """The path, where the picture now is: PNG, SVG or PDF by its ending, in a folder that is made."""
    suffix = Path(path).suffix
    if suffix not in _FORMATS:
        raise InputError(f"a figure ends in {', '.join(_FORMATS)}, not in {suffix or 'nothing'}")
    place = target(path)
    with refusing(path, "written"):
        drawn.savefig(place, dpi=160)
    return place


def shares_figure(
    shares: Mapping[str, Sequence[Number]], edges: Sequence[Number], *, title: str, along: str
) -> Figure:
    """Distributions over the same bins: one outline each."""
    drawn = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = drawn.subplots()
    for number, (name, values) in enumerate(shares.items()):
        axes.stairs(
            [100 * value for value in values], edges, color=COLOURS[number % len(COLOURS)], label=name
        )
    axes.set(xlabel=along, ylabel="share, %", title=title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return drawn

"""Methods side by side: one small panel for each measure, one line for each method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullFormatter

from askwise.report.content import Number
from askwise.report.figure import COLOURS, GREY
from askwise.report.wording import seeds

_ACROSS = 4  # panels in a row
_OURS = COLOURS[0]
_WIDE = 50  # from the lowest to the highest value of a logarithmic axis


@dataclass(frozen=True)
class Panel:
    """A measure: its values over the seeds for each method, and how they are written.

    `second` is a variant of the measure, drawn hollow; the title says what it is.
    """

    title: str
    values: Mapping[str, Sequence[Number]]
    write: str = "{:.3f}"
    log: bool = False
    second: Mapping[str, Sequence[Number]] | None = None


def side_by_side(panels: Sequence[Panel], *, title: str = "", baseline: str = "point") -> Figure:
    """The panels in rows of four; the baseline is grey, with a line through all of them at its mean.

    The title says how many seeds there are.
    """
    methods = list(dict.fromkeys(name for panel in panels for name in panel.values))
    down = -(-len(panels) // _ACROSS)
    height = 0.9 + down * (0.75 + 0.27 * len(methods))
    drawn = Figure(figsize=(12.5, height), layout=ConstrainedLayoutEngine(wspace=0.04, hspace=0.08))
    grid = drawn.subplots(down, _ACROSS, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        _draw(axes, panels[place], methods, baseline)
        if place % _ACROSS:
            axes.set_yticklabels([])
    counts = {len(values) for panel in panels for values in panel.values.values()}
    drawn.suptitle(f"{title} ({seeds(counts)})".strip() if counts else title, fontsize=11)
    return drawn


def _draw(axes: Axes, panel: Panel, methods: Sequence[str], baseline: str) -> None:
    axes.set_title(panel.title, fontsize=9, loc="left")
    axes.set_yticks(range(len(methods)), methods, fontsize=9)
    axes.set_ylim(len(methods) - 0.4, -0.6)  # the first on top
    for row, name in enumerate(methods):
        colour = GREY if name == baseline else _OURS
        for values, filled in ((panel.second, False), (panel.values, True)):
            if values is not None and values.get(name):
                _line(axes, row, values[name], colour, filled=filled)
        if panel.values.get(name):
            said = panel.write.format(fmean(panel.values[name]))
            axes.text(1.01, row, said, transform=axes.get_yaxis_transform(), fontsize=8, va="center")
    if panel.values.get(baseline):
        axes.axvline(fmean(panel.values[baseline]), color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right", "left"]].set_visible(False)
    every = [value for values in panel.values.values() for value in values]
    if panel.log and every and min(every) > 0:  # what took less than a tick of the clock is 0
        _log_scale(axes, min(every), max(every))


def _line(axes: Axes, row: int, values: Sequence[Number], colour: str, *, filled: bool) -> None:
    """Range, seeds and mean of one method."""
    axes.hlines(row, min(values), max(values), color=colour, linewidth=1.2, alpha=0.6)
    axes.plot(values, [row] * len(values), "|", color=colour, markersize=5, alpha=0.6)
    face = colour if filled else "white"
    axes.plot([fmean(values)], [row], "o", color=colour, markerfacecolor=face, markersize=5.5)


def _log_scale(axes: Axes, lowest: Number, highest: Number) -> None:
    """Ticks at 1, 2, 5 of every power of ten where those are few, and numbers written out."""
    if lowest == highest:  # a power of ten would be an axis without length
        axes.set_xlim(lowest / 2, highest * 2)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _WIDE * low else (1,)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())

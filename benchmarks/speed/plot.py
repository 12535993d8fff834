"""Cost against the number of items and of draws, as a picture."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from askwise.report.figure import COLOURS, GREY
from speed.rows.scaling import POSTERIORS
from speed.spread import spread


def plot(facts: dict[str, Any], path: Path) -> None:
    """Seconds and memory beyond the data, along N and along T; facts are those of the row `scaling`."""
    figure = Figure(figsize=(9.0, 6.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex="col")
    for colour, (posterior, name) in zip(COLOURS, POSTERIORS.items(), strict=False):
        for column, axis in enumerate(("n", "draws")):
            points = sorted(_along(facts[posterior], axis))
            places = [place for place, _ in points]
            times = [spread(found["seconds"]) for _, found in points]
            middle = [time.median for time in times]
            around = [[t.median - t.low for t in times], [t.high - t.median for t in times]]
            axes[0][column].errorbar(places, middle, around, color=colour, marker="o", capsize=3, label=name)
            held = [found["beyond_mb"] for _, found in points]
            axes[1][column].plot(places, held, color=colour, marker="o", label=name)
            axes[0][column].set_xscale("log")
            axes[0][column].set_xticks(places, [f"{place:,}" for place in places])
            axes[0][column].minorticks_off()
    _finish(axes)
    figure.savefig(path, dpi=150)


def _along(facts: dict[str, Any], axis: str) -> list[tuple[int, dict[str, Any]]]:
    """The points where the other axis has its usual value: the one that most points share."""
    found = []
    for label, memory in facts["memory"].items():
        options = facts[label]["entry"]["options"]
        found.append((options, {"seconds": facts[label]["seconds"], **memory}))
    other = "draws" if axis == "n" else "n"
    values = [options[other] for options, _ in found]
    usual = max(values, key=values.count)
    return [(options[axis], point) for options, point in found if options[other] == usual]


def _finish(axes: Any) -> None:
    for column, label in enumerate(("items in the pool, N", "draws, T")):
        axes[0][column].set(yscale="log")
        low, high = axes[0][column].get_xlim()
        bottom = axes[0][column].get_ylim()[0]
        axes[0][column].plot(
            [low, high], [bottom, bottom * high / low], color=GREY, linestyle=":", label="linear", zorder=0
        )
        axes[0][column].set_xlim(low, high)
        axes[1][column].set(xlabel=label, ylim=(0, 1.1 * axes[1][column].get_ylim()[1]))
    axes[0][0].set(ylabel="seconds")
    axes[1][0].set(ylabel="MB beyond the data")
    axes[0][0].legend(frameon=False)
    for one in axes.flat:
        one.grid(alpha=0.3)
        one.spines[["top", "right"]].set_visible(False)

"""Charts as SVG and HTML: they stretch with the page while their text keeps its size.

Shapes lie in percent of the plot, and lines in a drawing that is stretched without its strokes;
labels are HTML beside it. Colours are variables of the style sheet, so they follow light and dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from askwise.markup import Html, join, tag
from askwise.report.content import Number
from askwise.report.figure import Axis

KINDS = 6  # colours, dashes and markers; in the style sheet too
MOST_MARKERS = 30  # on one line


@dataclass(frozen=True)
class Line:
    """Points joined by a line; `style` is a number of the palette or "base" for the reference."""

    name: str
    style: int | str
    xs: Sequence[Number]
    ys: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()


def style_class(style: int | str) -> str:
    """The classes that give a curve its colour and its dashes; 36 curves differ in one of them."""
    if isinstance(style, str):
        return f"c-{style} d-{style}"
    return f"c-{style % KINDS} d-{_turn(style)}"


def legend(names: Sequence[tuple[str, int | str]], *, boxes: bool = False) -> Html:
    """Names beside samples of their lines, or of their colours."""
    entries = []
    for name, style in names:
        sample = tag("span", class_="box") if boxes else _sample(style)
        entries.append(tag("li", sample, tag("bdi", name), class_=style_class(style)))
    return tag("ul", *entries, class_="legend")


def lines(series: Sequence[Line], x: Axis, y: Axis, *, alt: str, guides: Sequence[Number] = ()) -> Html:
    """A chart of lines with markers, and bands where they have a spread."""
    bands = [_band(line, x, y) for line in series if line.low]
    strokes = [_stroke(line, x, y) for line in series]
    stretched = tag(
        "svg",
        *bands,
        *strokes,
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    across = [_guide(y, value) for value in guides]
    return frame(join(*across, stretched, *[_markers(line, x, y) for line in series]), x, y, alt=alt)


def bars(columns: Sequence[Sequence[tuple[str, Number, int | str]]], x: Axis, y: Axis, *, alt: str) -> Html:
    """Stacked columns at 0, 1, 2, ...: each part is (what the pointer tells, height, style)."""
    width = 100 / max(len(columns), 1)
    drawn = []
    for position, column in enumerate(columns):
        foot = 0.0
        for said, height, style in column:
            drawn.append(
                tag(
                    "rect",
                    tag("title", said),
                    x=f"{(position + 0.14) * width:.2f}%",
                    width=f"{0.72 * width:.2f}%",
                    y=f"{100 - y.at(foot + height):.2f}%",
                    height=f"{y.at(foot + height) - y.at(foot):.2f}%",
                    class_=f"part {style_class(style)}",
                )
            )
            foot += height
    return frame(join(*drawn), x, y, alt=alt)


def frame(drawing: Html, x: Axis, y: Axis, *, alt: str, kind: str = "") -> Html:
    """The drawing inside its axes."""
    grid = [_across(y, tick, "grid") for tick in y.ticks]
    up = [tag("span", y.write(tick), style=f"bottom:{y.at(tick):.2f}%") for tick in y.ticks]
    along = [tag("span", x.write(tick), style=f"left:{x.at(tick):.2f}%") for tick in x.ticks]
    plot = tag("svg", *grid, drawing, class_="plot", role="img", aria_label=alt)
    return tag(
        "div",
        tag("div", y.label, class_="y-label"),
        tag("div", *up, class_="y-ticks", aria_hidden="true"),
        plot,
        tag("div", *along, class_="x-ticks", aria_hidden="true"),
        tag("div", x.label, class_="x-label"),
        class_=f"chart {kind}".strip(),
    )


def _across(y: Axis, value: Number, kind: str) -> Html:
    height = f"{100 - y.at(value):.2f}%"
    return tag("line", x1="0", x2="100%", y1=height, y2=height, class_=kind)


def _guide(y: Axis, value: Number) -> Html:
    # Written at the left, where a curve that has yet to rise leaves room.
    said = tag("text", y.write(value), x="4", y=f"{100 - y.at(value):.2f}%", dy="-5", class_="guide-text")
    return join(_across(y, value, "guide"), said)


def _points(xs: Sequence[Number], ys: Sequence[Number], x: Axis, y: Axis) -> list[str]:
    return [f"{x.at(a):.2f},{100 - y.at(b):.2f}" for a, b in zip(xs, ys, strict=True)]


def _band(line: Line, x: Axis, y: Axis) -> Html:
    outline = _points(line.xs, line.high, x, y) + _points(line.xs, line.low, x, y)[::-1]
    return tag("polygon", points=" ".join(outline), class_=f"band {style_class(line.style)}")


def _stroke(line: Line, x: Axis, y: Axis) -> Html:
    points = " ".join(_points(line.xs, line.ys, x, y))
    return tag("polyline", points=points, class_=f"stroke {style_class(line.style)}")


def _markers(line: Line, x: Axis, y: Axis) -> Html:
    drawn = []
    every = -(-len(line.xs) // MOST_MARKERS)
    for a, b in list(zip(line.xs, line.ys, strict=True))[::every]:
        said = tag("title", f"{line.name}: {x.write(a)} {x.label}, {y.write(b)}")
        place = {"x": f"{x.at(a):.2f}%", "y": f"{100 - y.at(b):.2f}%"}
        drawn.append(tag("svg", _marker(line.style), said, **place, overflow="visible"))
    return tag("g", *drawn, class_=f"markers {style_class(line.style)}")


def _marker(style: int | str) -> Html:
    shapes = ("M0-4a4 4 0 1 0 .01 0z", "M-3.6-3.6h7.2v7.2h-7.2z", "M0-4.8 4.4 3.4h-8.8z")
    more = (
        "M0-5 4.6 0 0 5-4.6 0z",
        "M0 4.8 4.4-3.4h-8.8z",
        "M-4.4-1.5h2.9v-2.9h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9z",
    )
    small = "M0-2.6a2.6 2.6 0 1 0 .01 0z"
    return tag("path", d=(shapes + more)[_turn(style)] if isinstance(style, int) else small)


def _turn(style: int) -> int:
    return (style + style // KINDS) % KINDS


def _sample(style: int | str) -> Html:
    line = tag("line", x1="1", x2="33", y1="7", y2="7", class_="stroke")
    return tag(
        "svg", line, tag("g", _marker(style), transform="translate(17 7)", class_="markers"),
        width=34, height=14, aria_hidden="true",
    )  # fmt: skip

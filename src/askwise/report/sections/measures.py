"""How good every round's model was by all metrics of its task; predicted numbers beside true ones."""

from collections.abc import Sequence
from functools import partial

from askwise.markup import Html, join, tag
from askwise.report import wording
from askwise.report.charts import Line, frame, lines
from askwise.report.content import Content, Measured, Number, Point
from askwise.report.figure import axis
from askwise.report.sections.parts import figure, folded, section, table

_BAND = 2.0  # standard deviations to either side


def measures(content: Content) -> Html:
    """A small chart for each metric, and all of them in a table."""
    found = content.measured
    if not found:
        return Html("")
    names = list(found[0].values)
    trends = [_trend(found, name) for name in names]
    rows = [
        [str(one.round), wording.count(one.labels), *[_written(one.values.get(name)) for name in names]]
        for one in found
    ]
    head = ["round", "labels", *map(wording.measure, names)]
    return section(
        "metrics",
        "How good it is",
        tag("div", *trends, class_="multiples three"),
        folded("Every round in numbers", table(head, rows, title="Metrics of every round")),
    )


def points(content: Content) -> Html:
    """Predicted numbers against the true ones, each with a band of two standard deviations."""
    found = content.points
    if not found:
        return Html("")
    low = min(min(one.truth, one.mean - _BAND * one.deviation) for one in found)
    high = max(max(one.truth, one.mean + _BAND * one.deviation) for one in found)
    written = partial(wording.value, share=False)
    x = axis(low, high, label="true", write=written, count=5)
    y = axis(low, high, label="predicted", write=written, count=5)
    inside = sum(abs(one.truth - one.mean) <= _BAND * one.deviation for one in found)
    diagonal = tag("line", x1="0", y1="100%", x2="100%", y2="0", class_="diagonal")
    bands = [
        tag("line", x1=_at(x.at(one.truth)), x2=_at(x.at(one.truth)), class_="tally",
            y1=_at(100 - y.at(one.mean - _BAND * one.deviation)),
            y2=_at(100 - y.at(one.mean + _BAND * one.deviation)))
        for one in found
    ]  # fmt: skip
    dots = [
        tag("circle", tag("title", _told(one)), cx=_at(x.at(one.truth)), cy=_at(100 - y.at(one.mean)), r=3)
        for one in found
    ]
    share = wording.percent(inside / len(found), digits=0)
    chart = frame(
        join(diagonal, *bands, tag("g", *dots, class_="markers c-0 d-0")),
        x,
        y,
        alt=f"Predicted against true numbers of {len(found)} test items; {share} lie inside their bands",
        kind="square",
    )
    lead = (
        f"{len(found)} numbers of test items by the last model. Bars reach two standard deviations to either "
        f"side; {share} of the truths lie inside them, and 95 % should."
    )
    return section("points", "Predicted and true", figure(chart), lead=lead)


def _trend(found: Sequence[Measured], name: str) -> Html:
    known = [(one.labels, value) for one in found if (value := one.values.get(name)) is not None]
    if not known:
        return Html("")
    labels, values = [count for count, _ in known], [value for _, value in known]
    x = axis(min(labels), max(labels), label="labels", write=wording.count, count=4, snug=True)
    y = axis(min(0, *values), max(values) or 1, label="", write=lambda v: f"{v:g}", count=3)
    said = wording.measure(name)
    alt = f"{said} from {_written(values[0])} to {_written(values[-1])}"
    chart = lines([Line(said, 0, labels, values)], x, y, alt=alt)
    return figure(tag("div", chart, class_="small"), title=f"{said} (last: {_written(values[-1])})")


def _written(value: Number | None) -> str:
    return "–" if value is None else wording.decimal(value)


def _told(one: Point) -> str:
    return f"true {one.truth:.4g}, predicted {one.mean:.4g} ± {one.deviation:.3g}"


def _at(percent: Number) -> str:
    return f"{percent:.2f}%"

"""Calibration: reliability diagrams, ECE, NLL and Brier score by round."""

from collections.abc import Callable, Sequence

from askwise.markup import Html, join, tag
from askwise.report import wording
from askwise.report.charts import Line, frame, lines
from askwise.report.content import Bin, Calibration, Content, Number
from askwise.report.figure import axis
from askwise.report.sections.parts import figure, folded, section, table

_DIAGRAMS = 4
_FEW = 5  # items in a bin: with fewer its accuracy says next to nothing
_METRICS: tuple[tuple[str, str, Callable[[Calibration], Number]], ...] = (
    ("ECE", "expected calibration error", lambda c: c.ece),
    ("NLL", "negative log-likelihood, nats", lambda c: c.nll),
    ("Brier", "Brier score", lambda c: c.brier),
)


def quality(content: Content) -> Html:
    """How good the last model is by the test answers, and what that is worth."""
    if not content.quality:
        return Html("")
    first, *rest = content.quality
    lead = first[0].upper() + first[1:] + "."
    return section("quality", "How good it is", *[tag("p", line) for line in rest], lead=lead)


def calibration(content: Content) -> Html:
    """Reliability diagrams of some rounds and the three metrics of all of them."""
    found = content.calibration
    if not found:
        return Html("")
    chosen = _spread_out([c for c in found if c.bins])
    diagrams = tag("div", *[_diagram(c) for c in chosen], class_="multiples") if chosen else None
    trends = tag("div", *[_trend(found, *metric) for metric in _METRICS], class_="multiples three")
    rows = [
        [str(c.round), wording.count(c.labels), *[wording.decimal(value(c)) for _, _, value in _METRICS]]
        for c in found
    ]
    every = table(["round", _labels(found), "ECE", "NLL", "Brier"], rows, title="Calibration of every round")
    lead = (
        "On the dashed line, a model that says 80 % is right in 80 % of the cases; below it, it is too sure. "
        "Columns show how many test items it was so sure about; pale dots stand for fewer than five."
    )
    return section(
        "calibration",
        "Can it be believed?",
        diagrams,
        trends,
        folded("Every round in numbers", every),
        lead=lead,
    )


def _spread_out(found: Sequence[Calibration]) -> list[Calibration]:
    if len(found) <= _DIAGRAMS:
        return list(found)
    return [found[round(i * (len(found) - 1) / (_DIAGRAMS - 1))] for i in range(_DIAGRAMS)]


def _diagram(found: Calibration) -> Html:
    x = axis(0, 1, label="confidence, %", write=_plain, count=2)
    y = axis(0, 1, label="accuracy, %", write=_plain, count=4)
    largest = max(b.count for b in found.bins)
    columns = [
        tag("line", x1=_at(b.confidence), x2=_at(b.confidence), y1="100%",
            y2=f"{100 - 30 * b.count / largest:.2f}%", class_="tally")
        for b in found.bins
    ]  # fmt: skip
    diagonal = tag("line", x1="0", y1="100%", x2="100%", y2="0", class_="diagonal")
    path = " ".join(
        f"{100 * b.confidence:.2f},{100 - 100 * b.accuracy:.2f}" for b in found.bins if b.count >= _FEW
    )
    joined = tag(
        "svg", tag("polyline", points=path, class_="stroke c-0 d-0"),
        viewBox="0 0 100 100", preserveAspectRatio="none", width="100%", height="100%",
    )  # fmt: skip
    dots = [
        tag("circle", tag("title", _told(b)), cx=_at(b.confidence), cy=_at(1 - b.accuracy),
            r=3.5 if b.count >= _FEW else 2.5, opacity=None if b.count >= _FEW else 0.4)
        for b in found.bins
    ]  # fmt: skip
    alt = f"Reliability diagram of round {found.round}: calibration error {wording.percent(found.ece)}"
    chart = frame(
        join(*columns, diagonal, joined, tag("g", *dots, class_="markers c-0 d-0")),
        x,
        y,
        alt=alt,
        kind="square",
    )
    return figure(
        chart,
        title=f"Round {found.round}, {wording.total(found.labels, validation=found.validation)}",
        note=f"ECE {wording.percent(found.ece)}",
    )


def _trend(
    found: Sequence[Calibration], short: str, long: str, value: Callable[[Calibration], Number]
) -> Html:
    values = [value(c) for c in found]
    labels = [c.labels for c in found]
    x = axis(min(labels), max(labels), label=_labels(found), write=wording.count, count=4, snug=True)
    y = axis(0, max(values) or 1, label="", write=lambda v: f"{v:g}", count=3)
    alt = f"{long} from {wording.decimal(values[0])} to {wording.decimal(values[-1])}"
    chart = lines([Line(short, 0, labels, values)], x, y, alt=alt)
    return figure(
        tag("div", chart, class_="small"), title=f"{short} (last: {wording.decimal(values[-1])})", note=long
    )


def _labels(found: Sequence[Calibration]) -> str:
    """What a count of labels is of, where others were needed for validation."""
    return wording.axis_of_labels(c.validation for c in found)


def _told(found: Bin) -> str:
    return f"{found.count} items: {_whole(found.confidence)} sure, {_whole(found.accuracy)} right"


def _at(fraction: Number) -> str:
    return f"{100 * fraction:.2f}%"


def _plain(fraction: Number) -> str:
    return f"{100 * fraction:.0f}"


def _whole(fraction: Number) -> str:
    return wording.percent(fraction, digits=0)

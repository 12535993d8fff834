"""What was won: labels to a target, labels saved at equal accuracy, learning curves."""

import math

from askwise.report import wording
from askwise.report.axes import axis
from askwise.report.charts import Line, legend, lines
from askwise.report.content import Content, Curve
from askwise.report.curves import Cost, cost, saving, spread
from askwise.report.markup import Html, join, tag
from askwise.report.sections.parts import figure, name, section, table
from askwise.report.sections.parts import lines as stacked

TARGETS = (0.90, 0.95)
_SAVINGS = (0.70, 0.80, 0.85, 0.90, 0.925, 0.95, 0.97, 0.98, 0.99)


def headline(content: Content) -> Html:
    """The numbers to read first: of the first curve that is not the baseline."""
    ours, baseline = _sides(content)
    if ours is None:
        return Html("")
    tiles = []
    for target in TARGETS[::-1]:
        other = f"{content.baseline}: {wording.labels(cost(target, baseline))}" if baseline else ""
        title = f"Labels to {wording.percent(target, digits=0)}"
        tiles.append(_tile(title, wording.labels(cost(target, ours)), other))
    if baseline is not None:
        target = next((t for t in TARGETS[::-1] if math.isfinite(cost(t, ours).median)), TARGETS[0])
        found = saving(cost(target, ours), cost(target, baseline))
        title = f"Labels saved at {wording.percent(target, digits=0)}"
        tiles.insert(0, _tile(title, wording.saved(found), f"against {content.baseline}", kind="first"))
    last = f"{content.baseline}: {wording.percent(spread(baseline).mean[-1])}" if baseline else ""
    title = f"Accuracy at {wording.count(ours.labels[-1])} labels"
    tiles.append(_tile(title, wording.percent(spread(ours).mean[-1]), last))
    return tag("div", *tiles, class_="tiles")


def curves(content: Content) -> Html:
    """Learning curves with the spread over the seeds, and what each acquisition cost."""
    if not content.curves:
        return Html("")
    drawn = [_line(content, position) for position in range(len(content.curves))]
    low = min(min(line.low) for line in drawn)
    ends = [count for curve in content.curves for count in (curve.labels[0], curve.labels[-1])]
    x = axis(min(ends), max(ends), label="labels", write=wording.count, count=8, snug=True)
    y = axis(low, 1.0, label="test accuracy", write=lambda v: wording.percent(v, digits=0), count=7)
    alt = "Learning curves. " + "; ".join(
        f"{line.name}: {wording.percent(line.ys[0])} at {wording.count(line.xs[0])} labels, "
        f"{wording.percent(line.ys[-1])} at {wording.count(line.xs[-1])}"
        for line in drawn
    )
    chart = lines(drawn, x, y, alt=alt, guides=[t for t in TARGETS if t > y.low])
    seeds = max(len(curve.seeds) for curve in content.curves)
    note = (
        f"Lines: mean over {seeds} seeds; bands: lowest to highest." if seeds > 1 else "One seed: no spread."
    )
    key = legend([(line.name, line.style) for line in drawn])
    return section(
        "curves", "Learning curves", figure(chart, note=note, above=key), _costs(content), _savings(content)
    )


def _sides(content: Content) -> tuple[Curve | None, Curve | None]:
    baseline = next((c for c in content.curves if c.name == content.baseline), None)
    ours = next((c for c in content.curves if c is not baseline), None)
    return (ours, baseline) if ours is not None else (baseline, None)


def _tile(title: str, value: str, below: str, *, kind: str = "") -> Html:
    parts = (tag("dt", title), tag("dd", value, class_="value"), tag("dd", below, class_="below"))
    return tag("dl", *parts, class_=f"tile {kind}".strip())


def _line(content: Content, position: int) -> Line:
    curve = content.curves[position]
    others = [c for c in content.curves if c.name != content.baseline]
    style = "base" if curve.name == content.baseline else others.index(curve)
    over = spread(curve)
    return Line(curve.name, style, curve.labels, over.mean, over.low, over.high)


def _cell(found: Cost) -> Html:
    return stacked(wording.labels(found), tag("small", wording.span(found)) if wording.span(found) else None)


def _costs(content: Content) -> Html:
    rows = []
    for curve in content.curves:
        over = spread(curve)
        last = f"{100 * over.low[-1]:.1f}–{wording.percent(over.high[-1])}"
        final = stacked(
            wording.percent(over.mean[-1]), tag("small", last) if over.low[-1] != over.high[-1] else None
        )
        rows.append([name(curve.name), *[_cell(cost(t, curve)) for t in TARGETS], final])
    head = [
        "acquisition",
        *[f"labels to {wording.percent(t, digits=0)}" for t in TARGETS],
        "accuracy at the end",
    ]
    note = tag(
        "p",
        "Labels at the first round whose accuracy, averaged with the next two, reaches the target: the "
        "median over the seeds, and below it their range. Never reached is shown as more than the budget.",
        class_="note",
    )
    return join(table(head, rows, title="Labels to a target"), note)


def _savings(content: Content) -> Html:
    _, baseline = _sides(content)
    others = [curve for curve in content.curves if curve is not baseline]
    if baseline is None or not others:
        return Html("")
    rows = []
    for target in _SAVINGS:
        reference = cost(target, baseline)
        found = [cost(target, curve) for curve in others]
        if any(math.isfinite(c.median) and c.median > baseline.labels[0] for c in [reference, *found]):
            cells = [_saved(c, reference) for c in found]
            digits = 0 if round(100 * target, 6).is_integer() else 1
            rows.append([wording.percent(target, digits=digits), wording.labels(reference), *cells])
    if not rows:
        return Html("")
    head = ["at accuracy", f"labels of {content.baseline}", *[name(curve.name) for curve in others]]
    return table(head, rows, title=f"Labels saved at equal accuracy, against {content.baseline}")


def _saved(ours: Cost, reference: Cost) -> Html:
    found = saving(ours, reference)
    bar = None
    if found is not None and found.fraction > 0:
        bar = tag("span", class_="meter", style=f"--share:{100 * found.fraction:.1f}%")
    return stacked(wording.saved(found), bar)

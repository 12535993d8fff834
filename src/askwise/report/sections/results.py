"""Results: areas under the curves, labels to a target, labels saved at equal accuracy, the curves."""

import math
from functools import partial

from askwise.markup import Html, join, tag
from askwise.report import wording
from askwise.report.charts import Line, legend, lines
from askwise.report.content import Content, Curve, Number
from askwise.report.curves import WINDOW, Cost, cost, first_hit, labels_to, saving, spread
from askwise.report.figure import axis
from askwise.report.gaps import Gap, gaps
from askwise.report.sections.parts import figure, name, section, table
from askwise.report.sections.parts import lines as stacked

TARGETS = (0.90, 0.95)
_SAVINGS = (0.70, 0.80, 0.85, 0.90, 0.925, 0.95, 0.97, 0.98, 0.99)


def headline(content: Content) -> Html:
    """The numbers to read first: of the first curve that is not the baseline."""
    ours, baseline = _sides(content)
    if ours is None:
        return Html("")
    tiles = [_area_tile(content, ours)]
    if baseline is not None and _targets(content):
        target = next((t for t in TARGETS[::-1] if math.isfinite(cost(t, ours).median)), TARGETS[0])
        found = saving(cost(target, ours), cost(target, baseline))
        title = f"Labels saved at {wording.percent(target, digits=0)}"
        both = wording.seeds(len(curve.seeds) for curve in (ours, baseline))
        tiles.append(_tile(title, wording.saved(found), f"against {content.baseline}, medians, {both}"))
    for target in TARGETS[::-1] if _targets(content) else ():
        hit = f"first hit: {wording.labels(cost(target, ours, by=first_hit))}"
        other = f"; {content.baseline}: {wording.labels(cost(target, baseline))}" if baseline else ""
        title = f"Labels to {wording.percent(target, digits=0)}, three rounds in a row"
        tiles.append(_tile(title, wording.labels(cost(target, ours)), hit + other))
    last = f"{content.baseline}: {_value(content, spread(baseline).mean[-1])}" if baseline else ""
    title = f"{_measure(content)} at {wording.total(ours.labels[-1], validation=ours.validation)}"
    tiles.append(_tile(title[0].upper() + title[1:], _value(content, spread(ours).mean[-1]), last))
    return tag("div", *tiles, class_="tiles")


def curves(content: Content) -> Html:
    """Learning curves with the spread over the seeds, and what each acquisition cost."""
    if not content.curves:
        return Html("")
    drawn = [_line(content, position) for position in range(len(content.curves))]
    low = min(min(line.low) for line in drawn)
    ends = [count for curve in content.curves for count in (curve.labels[0], curve.labels[-1])]
    x = axis(
        min(ends),
        max(ends),
        label=wording.axis_of_labels(c.validation for c in content.curves),
        write=wording.count,
        count=8,
        snug=True,
    )
    share = content.curves[0].share
    high = 1.0 if share else max(max(line.high) for line in drawn)
    written = partial(wording.value, share=share, digits=0)
    y = axis(low, high, label=f"test {_measure(content)}", write=written, count=7)
    alt = "Learning curves. " + "; ".join(
        f"{line.name}: {_value(content, line.ys[0])} at {wording.count(line.xs[0])} labels, "
        f"{_value(content, line.ys[-1])} at {wording.count(line.xs[-1])}"
        for line in drawn
    )
    chart = lines(drawn, x, y, alt=alt, guides=[t for t in TARGETS if t > y.low and _targets(content)])
    counts = [len(curve.seeds) for curve in content.curves]
    note = (
        f"Lines: mean over the seeds ({wording.seeds(counts)}); bands: lowest to highest."
        if max(counts) > 1
        else "One seed (n = 1): no spread."
    )
    key = legend([(line.name, line.style) for line in drawn])
    return section(
        "curves",
        "Learning curves",
        figure(chart, note=note, above=key),
        _areas(content),
        _costs(content) if _targets(content) else None,
        _savings(content) if _targets(content) else None,
    )


def _targets(content: Content) -> bool:
    """Whether curves are of accuracy, which has targets that everybody knows."""
    return all(curve.measure == "accuracy" for curve in content.curves)


def _measure(content: Content) -> str:
    return wording.measure(content.curves[0].measure)


def _value(content: Content, value: Number) -> str:
    return wording.value(value, share=content.curves[0].share)


def _sides(content: Content) -> tuple[Curve | None, Curve | None]:
    baseline = next((c for c in content.curves if c.name == content.baseline), None)
    ours = next((c for c in content.curves if c is not baseline), None)
    return (ours, baseline) if ours is not None else (baseline, None)


def _tile(title: str, value: str, below: str, *, kind: str = "") -> Html:
    parts = (tag("dt", title), tag("dd", value, class_="value"), tag("dd", below, class_="below"))
    return tag("dl", *parts, class_=f"tile {kind}".strip())


def _area_tile(content: Content, ours: Curve) -> Html:
    found = gaps(content.curves, baseline=content.baseline)
    gap = found.methods[ours.name]
    title = f"Area under the curve to {wording.count(found.budget)} labels"
    value = "–" if gap.area is None else _value(content, gap.area)
    if gap.difference is None:
        return _tile(title, value, gap.why or wording.seeds([gap.n]), kind="first")
    unit = " points" if ours.share else ""
    beside = f"{wording.gap(gap.difference.mean, share=ours.share)}{unit} against {content.baseline}"
    below = f"{beside}: {gap.verdict}, {wording.seeds([gap.difference.n])}"
    return _tile(title, value, below, kind="first")


def _line(content: Content, position: int) -> Line:
    curve = content.curves[position]
    others = [c for c in content.curves if c.name != content.baseline]
    style = "base" if curve.name == content.baseline else others.index(curve)
    over = spread(curve)
    return Line(curve.name, style, curve.labels, over.mean, over.low, over.high)


def _cell(found: Cost) -> Html:
    return stacked(wording.labels(found), tag("small", wording.span(found)) if wording.span(found) else None)


def _areas(content: Content) -> Html:
    found = gaps(content.curves, baseline=content.baseline)
    versus = any(gap.difference is not None or gap.why for gap in found.methods.values())
    share = content.curves[0].share
    rows = [_area_row(gap, versus=versus, share=share) for gap in found.methods.values()]
    head = ["acquisition", "n", "area"]
    said = (
        "Mean height of the curve from its first number of labels to this one, averaged over n seeds: the "
        "number to compare by, because every run has one."
    )
    if versus:
        head += [
            f"against {content.baseline}{', points' if share else ''}",
            "95 % interval",
            "Holm’s p",
            "gap that n could show",
            "verdict",
        ]
        said += (
            f" Differences to {content.baseline} are paired over the seeds, with Student’s t interval; "
            "Holm’s p is corrected for all methods of the table. “Gap that n could show”: the true "
            "difference that so many seeds find in 80 % of cases. Undecided: the interval holds 0, or "
            "Holm’s p is above 0.05."
        )
    title = f"Area under the curve to {wording.count(found.budget)} labels"
    return join(table(head, rows, title=title), tag("p", said, class_="note"))


def _area_row(gap: Gap, *, versus: bool, share: bool) -> list[Html | str]:
    found = gap.difference
    paired = f" ({found.n} paired)" if found is not None and found.n != gap.n else ""
    row: list[Html | str] = [name(gap.name), f"{gap.n}{paired}"]
    row.append("–" if gap.area is None else wording.value(gap.area, share=share, digits=2))
    if found is not None and gap.adjusted_p is not None and gap.verdict is not None:
        row += [
            wording.gap(found.mean, share=share),
            f"{wording.gap(found.low, share=share)} to {wording.gap(found.high, share=share)}",
            wording.p_value(gap.adjusted_p),
        ]
        row += [wording.gap(found.detectable, share=share).removeprefix("+"), gap.verdict]
    elif versus:
        row += ["–"] * 4 + [gap.why or "–"]
    return row


def _costs(content: Content) -> Html:
    rows = []
    for curve in content.curves:
        over = spread(curve)
        last = f"{100 * over.low[-1]:.1f}–{wording.percent(over.high[-1])}"
        final = stacked(
            wording.percent(over.mean[-1]), tag("small", last) if over.low[-1] != over.high[-1] else None
        )
        cells = [_cell(cost(t, curve, by=by)) for t in TARGETS for by in (labels_to, first_hit)]
        rows.append([name(curve.name), str(len(curve.seeds)), *cells, final])
    head = ["acquisition", "n"]
    for target in TARGETS:
        written = wording.percent(target, digits=0)
        head += [f"labels to {written}, three rounds in a row", f"first hit of {written}"]
    note = tag(
        "p",
        "Three rounds in a row: the labels at the round that completes the first three rounds whose mean "
        "accuracy reaches the target. First hit: at the first round that reaches it, lucky or not. The "
        "median over the n seeds, and below it their range; never reached is shown as more than the "
        f"budget.{_validated(content)}",
        class_="note",
    )
    return join(table([*head, "accuracy at the end"], rows, title="Labels to a target"), note)


def _validated(content: Content) -> str:
    if not any(curve.validation for curve in content.curves):
        return ""
    counts = sorted({curve.validation for curve in content.curves})
    return f" All totals count the labels for validation ({' or '.join(map(wording.count, counts))}) too."


def _savings(content: Content) -> Html:
    _, baseline = _sides(content)
    others = [curve for curve in content.curves if curve is not baseline]
    if baseline is None or not others:
        return Html("")
    rows = []
    # nobody had to learn for what the first three rounds have already
    first = baseline.labels[:WINDOW][-1] + baseline.validation
    for target in _SAVINGS:
        reference = cost(target, baseline)
        found = [cost(target, curve) for curve in others]
        if any(math.isfinite(c.median) and c.median > first for c in [reference, *found]):
            cells = [_saved(c, reference) for c in found]
            digits = 0 if round(100 * target, 6).is_integer() else 1
            rows.append([wording.percent(target, digits=digits), wording.labels(reference), *cells])
    if not rows:
        return Html("")
    head = ["at accuracy", f"labels of {content.baseline}", *[name(curve.name) for curve in others]]
    both = wording.seeds(len(curve.seeds) for curve in content.curves)
    title = f"Labels saved at equal accuracy, against {content.baseline} (medians, {both})"
    return table(head, rows, title=title)


def _saved(ours: Cost, reference: Cost) -> Html:
    found = saving(ours, reference)
    bar = None
    if found is not None and found.fraction > 0:
        bar = tag("span", class_="meter", style=f"--share:{100 * found.fraction:.1f}%")
    return stacked(wording.saved(found), bar)

"""The table of all lines, in Markdown."""

from collections.abc import Sequence

from speed.line import Line
from speed.reasons import REASONS

_HEAD = ["what", "measured", "ratio or figure (spread)", "at least", "reached", "reason"]


def table(lines: Sequence[Line], reasons: dict[str, str] = REASONS) -> str:
    """A row for every line; a reason only where a number is not reached."""
    out = ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD)]
    for line in lines:
        reason = reasons.get(line.key, "") if line.reached is False else ""
        cells = [line.what, line.measured, figure(line), goal(line), _reached(line), reason]
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(out)


def figure(line: Line) -> str:
    """The value with its unit, and its lowest and highest."""
    if line.value is None:
        return "-"
    told = f"{number(line.value)}{line.unit}"
    if line.low is None or line.high is None or line.low == line.high:
        return told
    return f"{told} ({number(line.low)} to {number(line.high)})"


def goal(line: Line) -> str:
    """What is wanted, and whether it is but a wish."""
    if line.goal is None:
        return "-"
    sense = "" if line.sense == "at least" else "at most "
    return f"{'aim: ' if line.aim else ''}{sense}{number(line.goal)}{line.unit}"


def number(value: float) -> str:
    """Three digits, and none after the point from a hundred on."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _reached(line: Line) -> str:
    if line.goal is None:
        return "-"
    return {True: "yes", False: "no", None: "not measured"}[line.reached]

"""One line of the table: what was measured, and what is at least wanted."""

from dataclasses import dataclass
from typing import Any, Literal

from speed.contest import Contest
from speed.spread import Spread, ratios

Sense = Literal["at least", "at most"]


@dataclass(frozen=True)
class Line:
    """A figure with its spread beside a goal; without a value it could not be measured."""

    key: str
    what: str
    measured: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    goal: float | None = None
    sense: Sense = "at least"
    unit: str = "x"
    aim: bool = False
    """A wish beyond what is at least wanted."""

    @property
    def reached(self) -> bool | None:
        """Whether the goal is; None where there is no goal or no value."""
        if self.goal is None or self.value is None:
            return None
        return self.value >= self.goal if self.sense == "at least" else self.value <= self.goal


def of_spread(found: Spread) -> dict[str, float]:
    """The part of a line that a spread fills."""
    return {"value": found.median, "low": found.low, "high": found.high}


def failed(key: str, what: str, error: str, **rest: Any) -> Line:
    """A line without a value, and why."""
    return Line(key, what, f"could not be run: {error}", **rest)


def faster(found: Contest, ours: str, theirs: str, *, key: str, what: str, goal: float | None = None) -> Line:
    """How many times as long as ours theirs takes."""
    a, b = found.timings[ours], found.timings[theirs]
    for timing in (a, b):
        if timing.error is not None:
            return failed(key, what, f"{timing.entry.label}: {timing.error}", goal=goal)
    measured = f"{told(found, ours)}; {told(found, theirs)}"
    return Line(key, what, measured, **of_spread(ratios(b.seconds, a.seconds)), goal=goal)


def near_limit(found: Contest, label: str, *, key: str, what: str, goal: float) -> Line:
    """The median as a multiple of the limit; an aim."""
    wish: dict[str, Any] = {"goal": goal, "sense": "at most", "unit": "x the limit", "aim": True}
    if (error := found.timings[label].error) is not None:
        return failed(key, what, error, **wish)
    return Line(key, what, told(found, label), value=found.times_limit(label), **wish)


def told(found: Contest, label: str) -> str:
    """A timing in words: seconds, times the limit, and whether it was scaled or how much memory it took."""
    timing = found.timings[label]
    words = f"{label} {timing.median:.3g} s"
    notes = [f"{found.times_limit(label):.1f}x the limit of its work"] if timing.entry.mflop else []
    if timing.entry.items != timing.entry.scaled_to:
        also = f" and {timing.entry.smaller:,}" if timing.entry.smaller else ""
        notes.append(f"timed at {timing.entry.items:,}{also} items and scaled to {timing.entry.scaled_to:,}")
    if timing.beyond_mb:
        notes.append(f"{timing.beyond_mb:.0f} MB beyond the data")
    return f"{words} ({', '.join(notes)})" if notes else words

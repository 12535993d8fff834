"""How it ran: time by phase, the plan, and the segments of the run."""

from collections.abc import Sequence

from askwise.markup import Html, Part
from askwise.report import wording
from askwise.report.charts import bars, legend
from askwise.report.content import Content, Spent
from askwise.report.figure import Axis, axis
from askwise.report.sections.parts import figure, folded, name, section, table

_TICKS = 12
_UNITS = (("hours", 3600), ("minutes", 60), ("seconds", 1))


def times(content: Content) -> Html:
    """How long every round took, by phase."""
    if not content.times:
        return Html("")
    phases = list(dict.fromkeys(phase for spent in content.times for phase in spent.seconds))
    totals = [sum(spent.seconds.get(phase, 0) for spent in content.times) for phase in phases]
    whole = sum(totals)
    rows = [
        [str(spent.round), *[wording.seconds(spent.seconds.get(phase, 0)) for phase in phases]]
        for spent in content.times
    ]
    every = table(["round", *[name(phase) for phase in phases]], rows, title="Time of every round")
    said = [
        f"{phase} {wording.seconds(total)} ({wording.percent(total / (whole or 1), digits=0)})"
        for phase, total in zip(phases, totals, strict=True)
    ]
    key = legend(list(zip(said, range(len(said)), strict=True)), boxes=True)
    alt = f"Time of every round by phase: {', '.join(said)}"
    return section(
        "times",
        "Where the time went",
        figure(_columns(content.times, phases, alt=alt), above=key),
        folded("Every round in numbers", every),
        lead=f"{wording.seconds(whole)} in all, over {len(content.times)} rounds.",
    )


def plan(content: Content) -> Html:
    """The plan, line by line, and the conditions under which each segment ran."""
    if not content.plan and not content.segments:
        return Html("")
    parts = []
    rows: list[list[Part]]
    if content.plan:
        rows = [[name(key), name(value)] for key, value in wording.flat(content.plan)]
        parts.append(table(["setting", "value"], rows, title="Settings", kind="plan"))
    if content.segments:
        rows = [
            [
                f"from round {segment.first_round}",
                ", ".join(segment.changed) or "–",
                name("; ".join(f"{key} {value}" for key, value in wording.flat(segment.conditions))),
            ]
            for segment in content.segments
        ]
        parts.append(
            table(["segment", "changed", "conditions"], rows, title="Segments of the run", kind="plan")
        )
    lead = "Within a segment the same facts give the same bits." if content.segments else None
    return section("plan", "The plan", *parts, lead=lead)


def _columns(found: Sequence[Spent], phases: list[str], *, alt: str) -> Html:
    longest = max(sum(spent.seconds.values()) for spent in found) or 1
    unit, size = next(((u, s) for u, s in _UNITS if longest >= 2 * s), _UNITS[-1])
    y = axis(0, longest / size, label=unit, write=lambda v: f"{v:g}", count=4)
    columns = [
        [
            (f"round {spent.round}, {phase}: {wording.seconds(value)}", value / size, phases.index(phase))
            for phase, value in spent.seconds.items()
        ]
        for spent in found
    ]
    return bars(columns, _rounds(found), y, alt=alt)


def _rounds(found: Sequence[Spent]) -> Axis:
    # Columns stand at 0, 1, 2, ...; their middles carry the numbers of the rounds.
    every = -(-len(found) // _TICKS)
    middles = tuple(position + 0.5 for position in range(0, len(found), every))
    return Axis(0, len(found), middles, "round", lambda middle: str(found[int(middle)].round))

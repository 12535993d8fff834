"""Cost and memory against the number of items and of draws."""

from typing import Any

from speed.bench import Bench
from speed.contest import Contest, contest, footprint
from speed.finding import Finding
from speed.line import Line, failed, of_spread
from speed.rows.scoring import ours
from speed.spread import ratios

POSTERIORS = {"mc_dropout": "MC dropout", "bnn1": "BNN-1"}
_LOOSE = 1.2  # cost per item of the largest pool beside the one before
_FLAT = 50  # MB that memory may grow on the way


def measure(bench: Bench) -> Finding:
    """Both posteriors at every size of pool and every number of draws."""
    lines: list[Line] = []
    facts: dict[str, Any] = {}
    for posterior in POSTERIORS:
        entries = [
            ours(bench, posterior, n=n, draws=draws, label=label(n, draws), repeats=1)
            for n, draws in points(bench)
        ]
        found = contest(bench, entries)
        memory = {entry.label: footprint(bench, entry) for entry in entries}
        facts[posterior] = {**found.facts(), "memory": memory}
        lines += _lines(bench, posterior, found, memory)
    return Finding(lines, facts)


def points(bench: Bench) -> list[tuple[int, int]]:
    """Pairs of N and T: one line along each axis."""
    sizes = bench.sizes
    pairs = [(n, sizes.draws) for n in sizes.pools] + [(sizes.n, draws) for draws in sizes.draw_counts]
    return list(dict.fromkeys(pairs))


def label(n: int, draws: int) -> str:
    """How a point is called."""
    return f"N = {n:,}, T = {draws:,}"


def _lines(bench: Bench, posterior: str, found: Contest, memory: dict[str, dict[str, float]]) -> list[Line]:
    sizes, name = bench.sizes, POSTERIORS[posterior]
    smaller, larger = sorted(sizes.pools)[-2:]
    a, b = label(smaller, sizes.draws), label(larger, sizes.draws)
    errors = [timing.error for timing in found.timings.values() if timing.error]
    if errors:
        return [failed(f"scaling.{posterior}", f"{name} against N and T", errors[0])]
    seconds = {at: timing.seconds for at, timing in found.timings.items()}
    per_item = ratios([s / larger for s in seconds[b]], [s / smaller for s in seconds[a]])
    told = "; ".join(f"{at}: {timing.median:.3g} s" for at, timing in found.timings.items())
    return [
        Line(
            f"scaling.{posterior}.linear",
            f"{name}: cost per item, N = {larger:,} against {smaller:,}",
            told,
            **of_spread(per_item),
            goal=_LOOSE,
            sense="at most",
        ),
        Line(
            f"scaling.{posterior}.flat",
            f"{name}: growth of memory beyond the data, N = {larger:,} against {smaller:,}",
            "; ".join(f"{at}: {one['beyond_mb']:.0f} MB" for at, one in memory.items()),
            value=memory[b]["beyond_mb"] - memory[a]["beyond_mb"],
            goal=_FLAT,
            sense="at most",
            unit=" MB",
        ),
    ]

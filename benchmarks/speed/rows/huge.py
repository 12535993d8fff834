"""A pool that is never stored, and its best items beside brute force on a part of it."""

import statistics
from typing import Any

from speed.bench import Bench
from speed.finding import Finding
from speed.limit import multiple
from speed.line import Line, failed
from speed.memory import Watch
from speed.process import Contestant, ContestantError

_WIDTH, _CLASSES = 16, 10
_EVERY = 0.05  # seconds between two looks at memory


def measure(bench: Bench) -> Finding:
    """Peak memory and time of the whole pool; equality on the part."""
    contestant = bench.fresh("askwise")
    try:
        return _measured(bench, contestant)
    except ContestantError as error:
        return Finding(
            [failed("huge.memory", _what(bench), str(error), goal=600, sense="at most", unit=" MB")], {}
        )
    finally:
        contestant.close()


def _measured(bench: Bench, contestant: Contestant) -> Finding:
    sizes, limit = bench.sizes, bench.limit()
    options = {"n": sizes.huge, "draws": sizes.huge_draws, "picks": sizes.huge_picks}
    part = {**options, "n": sizes.brute}
    contestant.ask("prepare", "huge", options)
    with Watch(contestant.pid, every=_EVERY) as watch:
        seconds = statistics.median(contestant.ask("run", "huge", options, repeats=1)["seconds"])
    found, brute = (contestant.ask("run", task, part, repeats=1) for task in ("huge", "brute_force"))
    same = agreement(found["picks"], brute["picks"])
    gap = brute["scores"][-2] - brute["scores"][-1]
    mflop = sizes.huge * sizes.huge_draws * 2 * _WIDTH * _CLASSES / 1e6
    times = multiple(seconds, mflop, limit)
    rate = sizes.huge / seconds
    lines = [
        Line(
            "huge.memory",
            f"{_what(bench)}: memory, all of it",
            f"{seconds:.3g} s with memory watched, {rate:,.0f} items a second, {times:.0f}x the limit of its "
            f"products; {watch.before:.0f} MB before, {watch.peak:.0f} MB at the peak, interpreter and torch included",
            value=watch.peak,
            goal=600,
            sense="at most",
            unit=" MB",
        ),
        Line(
            "huge.equal",
            f"top {sizes.huge_picks} of {sizes.brute:,} equal to brute force in float64",
            f"{same:.0%} the same; the last one is {gap:.1e} above the best left out",
            value=100 * same,
            goal=100,
            unit=" %",
        ),
    ]
    facts: dict[str, Any] = {**options, "seconds": seconds, "gemm_gflops": [limit], "times_limit": times}
    facts |= {"before_mb": watch.before, "peak_mb": watch.peak, "part": found, "brute_force": brute}
    return Finding(lines, facts)


def agreement(ours: list[int], brute: list[int]) -> float:
    """Which share of the picks is the same; order does not matter."""
    return len(set(ours) & set(brute)) / len(brute)


def _what(bench: Bench) -> str:
    sizes = bench.sizes
    return f"{sizes.huge:,} generated items of {_WIDTH} features, linear head, T = {sizes.huge_draws}"

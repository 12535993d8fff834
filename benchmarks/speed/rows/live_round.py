"""One round while a person waits: learn the last layer on cached features, score all, choose."""

from dataclasses import replace
from typing import Any

from speed.bench import Bench
from speed.contest import Entry, contest
from speed.finding import Finding
from speed.line import Line, failed, of_spread, told
from speed.spread import spread

_WIDTH, _CLASSES = 512, 10
OURS = "askwise"


def measure(bench: Bench) -> Finding:
    """Seconds from labels to questions."""
    sizes = bench.sizes
    options = {
        "n": sizes.features,
        "labels": sizes.labels,
        "classes": _CLASSES,
        "draws": sizes.draws,
        "picks": sizes.picks,
    }
    mflop = 2 * sizes.features * _WIDTH * _CLASSES * sizes.draws / 1e6  # of the scores; learning is little
    warm = {"n": min(1_000, sizes.features)}
    entry = Entry(
        OURS, "askwise", "live_round", options, mflop, sizes.features, repeats=sizes.repeats, warm=warm
    )
    found = contest(bench, [entry])
    what = f"live round: {sizes.features:,} features of {_WIDTH}, {sizes.labels} labels, T = {sizes.draws}"
    wanted: dict[str, Any] = {"goal": 2, "sense": "at most", "unit": " s"}
    if (error := found.timings[OURS].error) is not None:
        return Finding([failed("live_round", what, error, **wanted)], {})
    seconds = of_spread(spread(found.timings[OURS].seconds))
    line = Line("live_round", what, told(found, OURS), **seconds, **wanted)
    return Finding([line, replace(line, key="live_round.aim", goal=1, aim=True)], found.facts())

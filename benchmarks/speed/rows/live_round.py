"""One round while a person waits: learn the last layer on cached features, score all, choose."""

from dataclasses import replace
from typing import Any

from speed.bench import Bench
from speed.contest import Entry, contest
from speed.finding import Finding
from speed.line import Line, failed, of_spread, told
from speed.spread import spread

_WIDTH, _CLASSES = 512, 10
WAYS = {"weights": "100 last layers drawn", "logits": "logits in closed form"}
"""What is drawn, as askwise calls it and as the table does."""


def measure(bench: Bench) -> Finding:
    """Seconds from labels to questions, with either kind of draw."""
    found = contest(bench, [_entry(bench, draw) for draw in WAYS])
    lines = [line for draw in WAYS for line in _lines(bench, draw, found)]
    return Finding(lines, found.facts())


def _entry(bench: Bench, draw: str) -> Entry:
    sizes = bench.sizes
    options = {
        "n": sizes.features,
        "labels": sizes.labels,
        "classes": _CLASSES,
        "draws": sizes.draws,
        "picks": sizes.picks,
        "draw": draw,
    }
    products = sizes.draws if draw == "weights" else 2  # of the scores; learning is little
    mflop = 2 * sizes.features * _WIDTH * _CLASSES * products / 1e6
    warm = {"n": min(1_000, sizes.features)}
    return Entry(
        WAYS[draw], "askwise", "live_round", options, mflop, sizes.features, repeats=sizes.repeats, warm=warm
    )


def _lines(bench: Bench, draw: str, found: Any) -> list[Line]:
    sizes, name = bench.sizes, WAYS[draw]
    what = f"live round: {sizes.features:,} features of {_WIDTH}, {sizes.labels} labels, {name}"
    wanted: dict[str, Any] = {"goal": 2, "sense": "at most", "unit": " s"}
    if (error := found.timings[name].error) is not None:
        return [failed(f"live_round.{draw}", what, error, **wanted)]
    seconds = of_spread(spread(found.timings[name].seconds))
    line = Line(f"live_round.{draw}", what, told(found, name), **seconds, **wanted)
    return [line, replace(line, key=f"live_round.{draw}.aim", goal=1, aim=True)]

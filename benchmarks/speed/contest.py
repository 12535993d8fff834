"""Contestants in turn on the same task, round after round."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from speed.bench import Bench
from speed.limit import multiple
from speed.memory import Watch
from speed.process import ContestantError

_OFTEN, _SELDOM = 0.01, 0.25  # seconds between two looks at memory: with a run of its own, and in a timed run


@dataclass(frozen=True)
class Entry:
    """Who does what, on how many items, and how much work that is."""

    label: str
    contestant: str
    task: str
    options: dict[str, Any]
    mflop: float
    """Of its own way to do it, on the items it is scaled to."""
    scaled_to: int
    """Our number of items, where its own (the option `n`) are fewer."""
    smaller: int | None = None
    """A second number of items to time: where there is a fixed cost, it must not be scaled."""
    repeats: int = 1
    warm: dict[str, Any] = field(default_factory=dict)
    """Options of the first, untimed run: few items, for what is loaded or built late."""

    @property
    def items(self) -> int:
        """How many it gets."""
        return int(self.options["n"])


@dataclass
class Timing:
    """Seconds in every round, scaled to our items, or why there are none."""

    entry: Entry
    seconds: list[float] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=dict)
    beyond_mb: float | None = None
    error: str | None = None

    @property
    def median(self) -> float:
        """Of the rounds."""
        return statistics.median(self.seconds)


@dataclass
class Contest:
    """All timings by label, and the limit in every round."""

    timings: dict[str, Timing]
    limits: list[float]

    def times_limit(self, label: str) -> float:
        """How many times as long as the limit allows for the work it does."""
        timing = self.timings[label]
        return multiple(timing.median, timing.entry.mflop, statistics.median(self.limits))

    def facts(self) -> dict[str, Any]:
        """Everything, as JSON holds it."""
        out: dict[str, Any] = {"gemm_gflops": self.limits}
        for label, timing in self.timings.items():
            out[label] = {**asdict(timing), "entry": _told(timing.entry)}
            if timing.seconds:
                out[label]["times_limit"] = self.times_limit(label)
        return out


def contest(bench: Bench, entries: Sequence[Entry], *, threads: int | None = None) -> Contest:
    """Every entry once in every round, after one untimed run each; who fails once is out."""
    found = Contest({entry.label: Timing(entry) for entry in entries}, [])
    for entry in entries:
        _warm(bench, found.timings[entry.label], threads)
    for number in range(bench.sizes.rounds):
        found.limits.append(bench.limit(threads))
        for timing in found.timings.values():
            _time(bench, timing, threads, watch=number == 0)
    return found


def footprint(bench: Bench, entry: Entry) -> dict[str, float]:
    """MB of a fresh process tree before and at the peak of its first run; data and model come before."""
    contestant = bench.fresh(entry.contestant)
    try:
        contestant.ask("prepare", entry.task, entry.options)
        with Watch(contestant.pid, every=_OFTEN) as watch:
            answer = contestant.ask("run", entry.task, entry.options, repeats=1)
    finally:
        contestant.close()
    return {
        "before_mb": watch.before,
        "peak_mb": watch.peak,
        "beyond_mb": watch.beyond,
        "first_call_s": answer["seconds"][0],
    }


def extended(items: int, seconds: float, to: int, smaller: tuple[int, float] | None = None) -> float:
    """Seconds for `to` items: in proportion, or on the straight line through a smaller run."""
    if smaller is None or smaller[0] == items:
        return seconds * to / items
    slope = max(0.0, seconds - smaller[1]) / (items - smaller[0])
    return seconds + slope * (to - items)


def _warm(bench: Bench, timing: Timing, threads: int | None) -> None:
    entry = timing.entry
    try:
        _run(bench, entry, {**entry.options, **entry.warm}, threads, repeats=1)
    except ContestantError as error:
        timing.error = str(error)


def _time(bench: Bench, timing: Timing, threads: int | None, *, watch: bool) -> None:
    """One round of one contestant, unless it has failed before."""
    entry = timing.entry
    if timing.error is not None:
        return
    try:
        # Askwise is short, so a look would weigh; its memory has a run of its own.
        if watch and entry.contestant != "askwise":
            with Watch(bench.contestant(entry.contestant).pid, every=_SELDOM) as seen:
                seconds, answer = _run(bench, entry, entry.options, threads, repeats=entry.repeats)
            timing.beyond_mb = seen.beyond
        else:
            seconds, answer = _run(bench, entry, entry.options, threads, repeats=entry.repeats)
        smaller = None
        if entry.smaller is not None:
            part = {**entry.options, "n": entry.smaller}
            smaller = entry.smaller, _run(bench, entry, part, threads, repeats=1)[0]
    except ContestantError as error:
        timing.error = str(error)
        return
    timing.seconds.append(extended(entry.items, seconds, entry.scaled_to, smaller))
    timing.answer = answer


def _run(
    bench: Bench, entry: Entry, options: dict[str, Any], threads: int | None, *, repeats: int
) -> tuple[float, dict[str, Any]]:
    """The median of the seconds, and what came out."""
    contestant = bench.contestant(entry.contestant)
    contestant.ask("prepare", entry.task, options, threads=threads)
    answer = contestant.ask("run", entry.task, options, repeats=repeats, threads=threads)
    return statistics.median(answer.pop("seconds")), answer


def _told(entry: Entry) -> dict[str, Any]:
    """Without the file's place, which is gone when the run is over."""
    return {**asdict(entry), "options": {k: v for k, v in entry.options.items() if k != "file"}}

"""Training beside a DataLoader loop: Gal's CNN on one thread and on all; a small network on a busy machine."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from speed.bench import Bench
from speed.contest import Contest, Entry, contest
from speed.finding import Finding
from speed.limit import training_step
from speed.line import Line, failed, faster, of_spread
from speed.spread import ratios

_BATCH = 64
_SMALL = {"n": 256, "epochs": 50, "batch": _BATCH}  # two hundred steps
_SMALL_WORK = (
    3 * 2 * (64 * 64 + 64 * 10) / 1e6 * _SMALL["n"] * _SMALL["epochs"]
)  # MFLOP, backward twice forward
OURS, PLAIN = "askwise", "DataLoader loop"


def measure(bench: Bench) -> Finding:
    """Images per second and the share of the limit."""
    sizes = bench.sizes
    options = {"file": bench.images(), "n": sizes.train_n, "epochs": sizes.train_epochs, "batch": _BATCH}
    images = sizes.train_n * sizes.train_epochs
    entry = Entry(
        OURS,
        "askwise",
        "train",
        options,
        training_step() * images,
        sizes.train_n,
        warm={"n": _BATCH, "epochs": 1},
    )
    entries = [entry, replace(entry, label=PLAIN, contestant="plain")]
    one, all_threads = contest(bench, entries, threads=1), contest(bench, entries)
    what = "training, Gal's CNN, batches of 64"
    lines = [
        faster(one, OURS, PLAIN, key="training.plain", what=f"{what}, one thread", goal=1.1),
        _share(one, images, f"{what}, one thread: share of the limit", goal=70),
        _share(one, images, f"{what}, one thread: share of the limit", goal=80, aim=True),
        faster(all_threads, OURS, PLAIN, key="training.threads", what=f"{what}, {bench.threads} threads"),
    ]
    small = Entry(OURS, "askwise", "train_small", _SMALL, _SMALL_WORK, _SMALL["n"], warm={"epochs": 1})
    entries = [small, replace(small, label=PLAIN, contestant="plain")]
    alone = contest(bench, entries)
    with neighbour():
        busy = contest(bench, entries)
    lines += [_slowed(alone, busy, OURS, goal=2.5), _slowed(alone, busy, PLAIN)]
    facts = {"one thread": one, "all threads": all_threads, "small, alone": alone, "small, busy": busy}
    return Finding(lines, {name: found.facts() for name, found in facts.items()})


@contextmanager
def neighbour() -> Iterator[None]:
    """A process that keeps one core busy."""
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def _slowed(alone: Contest, busy: Contest, label: str, *, goal: float | None = None) -> Line:
    """How many times as long a small training takes beside a busy neighbour."""
    key, what = f"training.busy.{label.split()[0].lower()}", f"a small network, one core busy: {label}"
    before, after = alone.timings[label], busy.timings[label]
    for timing in (before, after):
        if timing.error is not None:
            return failed(key, what, timing.error, goal=goal, sense="at most")
    measured = f"{before.median:.3g} s alone, {after.median:.3g} s beside a process that never rests"
    spread = of_spread(ratios(after.seconds, before.seconds))
    return Line(key, what, measured, **spread, goal=goal, sense="at most")


def _share(found: Contest, images: int, what: str, *, goal: float, aim: bool = False) -> Line:
    timing, key = found.timings[OURS], "training.aim" if aim else "training.limit"
    if timing.error is not None:
        return failed(key, what, timing.error, goal=goal, unit=" %", aim=aim)
    measured = f"{images / timing.median:,.0f} images a second"
    share = 100 / found.times_limit(OURS)
    return Line(key, what, measured, value=share, goal=goal, unit=" %", aim=aim)

"""Training Gal's CNN beside a DataLoader loop: on one thread, as runs share cores, and on all."""

from dataclasses import replace

from speed.bench import Bench
from speed.contest import Contest, Entry, contest
from speed.finding import Finding
from speed.limit import training_step
from speed.line import Line, failed, faster

_BATCH = 64
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
        _share(one, images, f"{what}, one thread: share of the limit", goal=65),
        _share(one, images, f"{what}, one thread: share of the limit", goal=70, aim=True),
        faster(all_threads, OURS, PLAIN, key="training.threads", what=f"{what}, {bench.threads} threads"),
    ]
    return Finding(lines, {"one thread": one.facts(), "all threads": all_threads.facts()})


def _share(found: Contest, images: int, what: str, *, goal: float, aim: bool = False) -> Line:
    timing, key = found.timings[OURS], "training.aim" if aim else "training.limit"
    if timing.error is not None:
        return failed(key, what, timing.error, goal=goal, unit=" %", aim=aim)
    measured = f"{images / timing.median:,.0f} images a second"
    share = 100 / found.times_limit(OURS)
    return Line(key, what, measured, value=share, goal=goal, unit=" %", aim=aim)

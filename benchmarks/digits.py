"""Digits: learning curves of every method of the demo, twenty seeds, to 200 labels."""

from collections.abc import Sequence
from pathlib import Path

from jobs import curves, tables
from jobs.experiment import Experiment, Key, Row

from askwise.demo import METHODS, PROTOCOL

SEEDS = range(20)
DEMO_SEEDS = range(3)  # those that `askwise demo` runs
BASELINE = "random"


def run(key: Key, scratch: Path) -> dict[str, object]:
    """The curve of one method and seed on the 596 test digits."""
    return curves.run(PROTOCOL, str(key["method"]), int(key["seed"]), scratch)


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/digits.md and .png."""
    budget = PROTOCOL.budget
    lines = [
        f"# Digits to {budget} labels",
        "",
        f"scikit-learn's digits, BNN-1: {PROTOCOL.initial} random labels first, {PROTOCOL.batch} more each round, new "
        f"weights every round, accuracy of the mean of {PROTOCOL.draws} draws on the 596 test digits. No validation "
        "labels are used. The protocol was settled on held-out training digits alone "
        "([digits_protocol.md](digits_protocol.md)), on other seeds.",
        "",
        f"**Area under the curve** to {budget} labels (mean accuracy from {PROTOCOL.initial} labels on), the primary "
        "number. " + tables.ABOUT.format(units="seeds"),
        "",
        *curves.areas(rows, budget=budget, baseline=BASELINE),
        curves.TARGET_NOTE,
        "",
        *curves.costs(rows, budget=budget),
        *_demo(rows, budget),
        *tables.footer(rows),
        "![Learning curves](digits.png)",
        "",
    ]
    tables.save(folder / "digits.md", lines)
    groups = {name: [row for row in rows if row["method"] == name] for name in METHODS}
    curves.picture(
        {name: own for name, own in groups.items() if own},
        folder / "digits.png",
        title=f"Digits to {budget} labels: mean and range over the seeds",
    )


def _demo(rows: Sequence[Row], budget: int) -> list[str]:
    """What the demo shows, of the same runs."""
    seeds = tables.spans(DEMO_SEEDS)
    few = [row for row in rows if row["seed"] in DEMO_SEEDS]
    if not few:
        return []
    return [
        f"The demo runs the seeds {seeds}. Of the runs above these alone, too few to decide anything:",
        "",
        *curves.costs(few, budget=budget),
    ]


EXPERIMENT = Experiment(
    name="digits",
    about="learning curves of every method, 20 seeds",
    jobs=[{"method": name, "seed": seed} for seed in SEEDS for name in METHODS],
    settings=lambda _: curves.settings(PROTOCOL),
    run=run,
    tables=write,
    seconds=20,
)

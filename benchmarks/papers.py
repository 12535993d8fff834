"""The papers' tables as jobs of the queue: every row in quick form first, then the runs that tell most.

The rows are those of `askwise reproduce`: results/PAPER/runs.jsonl, whoever made them.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from jobs.experiment import Experiment, Key, Row

import askwise as aw
from askwise.data.places import VARIABLE
from askwise.papers import PAPERS, Paper, Place, outcome, overview, write

ORDER = ("gal2017", "zeng2018", "kirsch2019", "alvarez", "loustau2023", "shridhar2019")


def data_dir() -> Path | None:
    """The folder of ASKWISE_DATA, where the authors' stored curves may be too."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def experiment(paper: Paper, *, quick: bool) -> Experiment:
    """One paper under one protocol."""
    entries = {one.name: one for one in paper.entries(quick=quick)}
    if quick:
        pairs = [(name, seed) for seed in paper.quick_seeds for name in entries]
    else:
        pairs = [(name, seed) for name, seeds in paper.priority for seed in seeds]

    def run(key: Key, scratch: Path) -> dict[str, Any]:
        one = entries[str(key["entry"])]
        return dict(one.run(one.settings, int(key["seed"]), Place(scratch)))

    def tables(_: Sequence[Row], folder: Path) -> None:
        write(outcome(paper, out=folder, data_dir=data_dir()), folder / paper.name)
        page = folder.parent / "docs" / "papers.md"
        if page.exists():
            page.write_text(overview(PAPERS, out=folder), encoding="utf-8")

    return Experiment(
        name=f"{paper.name}_quick" if quick else paper.name,
        about=f"{paper.title.split(':')[0]}, {'every row, quick' if quick else 'the runs that tell most'}",
        jobs=[{"entry": name, "seed": seed, "quick": quick} for name, seed in pairs],
        settings=lambda key: entries[str(key["entry"])].settings,
        run=run,
        tables=tables,
        seconds=fmean(entries[name].seconds for name, _ in pairs),
        ready=_ready(paper.quick_needs if quick else paper.needs),
        file=f"{paper.name}/runs.jsonl",
    )


def _ready(names: Sequence[str]) -> Callable[[], object]:
    return lambda: [aw.data.load(name) for name in names]


EXPERIMENTS = [experiment(PAPERS[name], quick=quick) for quick in (True, False) for name in ORDER]

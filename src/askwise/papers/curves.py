"""Learning curves: a plan run to its budget, and what a table says of the curves of several seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from askwise.loop.plan import Plan, make
from askwise.papers.record import Column, Measure, Place, Results
from askwise.report.content import Curve
from askwise.report.curves import area, cost, first_hit, saving
from askwise.runs.build import SIMULATED, learner, oracle
from askwise.runs.material import Material, material
from askwise.runs.rows import Row


@cache
def _known(data: str, data_dir: Path | None) -> Material:
    """The items of a data set, read once for all runs of a process."""
    return material(make({"classes": ("a", "b"), "data": data}), data_dir=data_dir)


def run_plan(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Labels, test accuracy and NLL after every round of `settings["plan"]`."""
    return run_on(settings, seed, place, _known(settings["plan"]["data"], place.data_dir))


def run_on(settings: Mapping[str, Any], seed: int, place: Place, known: Material) -> dict[str, Any]:
    """The same for items of one's own; a run that was killed goes on from its store."""
    plan = plan_of(settings, seed)
    with learner(plan, known, store=place.scratch / "run.db") as ours:
        ours.run(oracle=oracle(SIMULATED, plan, known))
        rounds = [(one.labels, one.metrics["test"]) for one in ours.rounds()]
        kept = sum(tensor.numel() for tensor in ours.fitted.tensors().values())
    return {
        "labels": [labels for labels, _ in rounds],
        **{name: [found[name] for _, found in rounds] for name in ("accuracy", "nll")},
        "validation": plan.validation.count,
        "parameters": kept,
    }


def plan_of(settings: Mapping[str, Any], seed: int) -> Plan:
    """The plan of one run, on one core and without calibration, as in the papers."""
    alone = {"engine_options": {"processes": 1}, "device": "cpu", "calibrate": False}
    return make({**alone, **settings["plan"], "seed": seed})


def curve(name: str, rows: Mapping[int, Row], *, measure: str = "accuracy", x: str = "labels") -> Curve:
    """The curves of all seeds of an entry."""
    first = next(iter(rows.values()))
    return Curve(
        name=name,
        seeds=list(rows),
        labels=first[x],
        values=[row[measure] for row in rows.values()],
        validation=first.values.get("validation", 0),
    )


def labels_column(target: float, *, theirs: bool = True) -> Column:
    """Labels in all at the first round that reaches a target: median over the seeds, lowest and highest."""

    def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
        reached = sorted(_reached(row, target) for row in rows)
        most = rows[0]["labels"][-1] + rows[0].values.get("validation", 0)
        low, mid, high = (_count(value, most) for value in (reached[0], median(reached), reached[-1]))
        return mid if len(rows) == 1 else f"{mid} ({low} to {high})"

    return Column(key=f"to_{100 * target:g}", title=f"labels to {100 * target:g} %", ours=cell, theirs=theirs)


def mean_crossing(target: float) -> Column:
    """Labels at the first round at which the mean of all seeds reaches a target, as Gal et al. count."""

    def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
        labels = rows[0]["labels"]
        mean = [fmean(row["accuracy"][place] for row in rows) for place in range(len(labels))]
        found = first_hit(target, labels, mean)
        extra = rows[0].values.get("validation", 0)
        return f"> {labels[-1] + extra:,}" if found is None else f"{found + extra:,}"

    return Column(
        key=f"mean_{100 * target:g}",
        title=f"labels to {100 * target:g} %, mean curve",
        ours=cell,
        theirs=True,
    )


def saving_column(target: float) -> Column:
    """How many of the baseline's labels are saved at a target: by the medians over the seeds."""

    def cell(rows: Sequence[Row], baseline: Sequence[Row]) -> str:
        if not baseline or rows[0].key["entry"] == baseline[0].key["entry"]:
            return "–"
        ours, other = (
            cost(target, curve("", {row["seed"]: row for row in runs}), by=first_hit)
            for runs in (rows, baseline)
        )
        found = saving(ours, other)
        return "–" if found is None else f"{'> ' * found.at_least}{100 * found.fraction:.0f} %"

    return Column(key=f"saved_{100 * target:g}", title=f"saved at {100 * target:g} %", ours=cell)


def last_column(
    key: str = "accuracy", *, title: str = "accuracy at the end, %", theirs: bool = False, error: bool = False
) -> Column:
    """The last value of a curve: mean over the seeds, ± standard error, in percent."""

    def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
        values = [100 * ((1 - row[key][-1]) if error else row[key][-1]) for row in rows]
        return mean_and_error(values, "{:.2f}")

    return Column(key="error" if error else "last", title=title, ours=cell, theirs=theirs)


def area_column(key: str = "accuracy", *, title: str = "area under the curve, %") -> Column:
    """The mean height of the curve: every run has one, also those that reach no target."""
    found = area_of(key)

    def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
        return mean_and_error([100 * (found(row) or 0.0) for row in rows], "{:.2f}")

    return Column(key="area", title=title, ours=cell)


def area_of(key: str = "accuracy", *, factor: float = 1.0) -> Measure:
    """The area under a run's curve to its last round."""
    return lambda row: factor * area(row["labels"], row[key], budget=row["labels"][-1])


def last_of(key: str = "accuracy", *, factor: float = 1.0) -> Measure:
    """The last value of a run's curve."""
    return lambda row: factor * row[key][-1]


def mean_and_error(values: Sequence[int | float], write: str) -> str:
    """The mean, ± its standard error where there are several values."""
    error = f" ± {write.format(stdev(values) / math.sqrt(len(values)))}" if len(set(values)) > 1 else ""
    return write.format(fmean(values)) + error


@dataclass(frozen=True)
class Number:
    """A single number of a run as a column: how it is found and written."""

    key: str
    title: str
    write: str = "{:.2f}"
    factor: int | float = 1.0
    theirs: bool = False

    @property
    def column(self) -> Column:
        """Mean over the seeds, ± standard error; a dash where no run has it."""

        def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
            values = [
                self.factor * row.values[self.key] for row in rows if row.values.get(self.key) is not None
            ]
            return mean_and_error(values, self.write) if values else "–"

        return Column(key=self.key, title=self.title, ours=cell, theirs=self.theirs)


def cpu_column() -> Column:
    """CPU seconds of a run: mean over the seeds."""

    def cell(rows: Sequence[Row], _: Sequence[Row]) -> str:
        return f"{fmean(row.cpu_seconds for row in rows):.0f}"

    return Column(key="cpu", title="CPU s a run", ours=cell)


def value_of(key: str, *, factor: float = 1.0) -> Measure:
    """A single number of a run."""
    return lambda row: None if row.values.get(key) is None else factor * row.values[key]


def having(entries: Mapping[str, str], found: Results, *keys: str) -> dict[str, dict[int, Row]]:
    """The runs of those entries that have these values, by their names in the legend."""
    kept = {
        name: {seed: row for seed, row in found.get(entry, {}).items() if row.values.keys() >= set(keys)}
        for name, entry in entries.items()
    }
    return {name: rows for name, rows in kept.items() if rows}


def mean_list(rows: Mapping[int, Row], key: str) -> list[float]:
    """The mean over the seeds of a list among their values, place by place."""
    return [fmean(values) for values in zip(*(row[key] for row in rows.values()), strict=True)]


def _reached(row: Row, target: float) -> int | float:
    found = first_hit(target, row["labels"], row["accuracy"])
    return math.inf if found is None else found + row.values.get("validation", 0)


def _count(value: int | float, most: int) -> str:
    return f"> {most:,}" if math.isinf(value) else f"{value:,.0f}"

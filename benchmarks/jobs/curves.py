"""Learning curves as jobs: one run of the loop each, and the tables that compare methods."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from askwise.bayes.posteriors import as_posterior
from askwise.demo import Protocol
from askwise.loop.plan_fields import Part
from askwise.report.content import Curve
from askwise.report.curves import area, first_hit, labels_to
from askwise.report.figure import figure, save
from askwise.runs.build import SIMULATED, learner, oracle
from askwise.runs.material import material
from askwise.train import as_training
from jobs import tables
from jobs.experiment import Row, options, plain

TARGETS = (0.90, 0.95)
AREA = tables.Measure(
    key="area", title="area under the curve, %", write="{:.2f}", factor=100.0, high=True
)  # of the primary number: every run has one
TARGET_NOTE = (
    "Labels to an accuracy: the labels at the round that completes the first three rounds in a row whose mean "
    "reaches it; first hit: the first round that reaches it. Medians over the seeds (lowest to highest); a run that "
    "never arrives counts as more than the budget."
)


def settings(protocol: Protocol, *, held_out: int = 0) -> dict[str, Any]:
    """All that decides a run beside method and seed, defaults of posterior and training included."""
    told = {
        **asdict(protocol),
        "posterior": options(as_posterior(protocol.posterior)),
        "training": options(as_training(protocol.training)),
    }
    return plain({**told, "measured_on": f"{held_out} training items" if held_out else "test items"})


def run(protocol: Protocol, method: str, seed: int, scratch: Path, *, held_out: int = 0) -> dict[str, Any]:
    """Labels, accuracy and NLL after every round; a run that was killed goes on from its store.

    With `held_out`, so many training items are taken out of the pool by the seed and measured on: the
    test items are not even loaded.
    """
    plan = protocol.plan(method, seed)
    known = material(plan)
    part = "test"
    if held_out:
        part = "validation"
        plan = plan.model_copy(update={"validation": Part(count=held_out)})
        known = replace(known, test=None)
    with learner(plan, known, store=scratch / "run.db") as ours:
        ours.run(oracle=oracle(SIMULATED, plan, known))
        rounds = [(one.labels, one.metrics[part]) for one in ours.rounds()]
    return {
        "labels": [labels for labels, _ in rounds],
        **{name: [found[name] for _, found in rounds] for name in ("accuracy", "nll")},
    }


def area_to(budget: int, row: Row) -> float:
    """The area under the curve of a row."""
    return area(row["labels"], row["accuracy"], budget=budget)


def areas(rows: Sequence[Row], *, budget: int, baseline: str, by: str = "method") -> list[str]:
    """The primary table: areas under the curve, and differences to the baseline."""
    values = tables.of(rows, lambda row: area_to(budget, row), by=by)
    return tables.differences(values, AREA, baseline=baseline)


def costs(rows: Sequence[Row], *, budget: int) -> list[str]:
    """Labels to a target by method."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    heads = [f"labels to {100 * t:g} % | first hit of {100 * t:g} %" for t in TARGETS]
    lines = [f"| method | seeds | {' | '.join(heads)} | accuracy at {budget} labels, % |"]
    lines += ["|---|---|" + "---|" * (2 * len(TARGETS) + 1)]
    for name in names:
        own = [row for row in rows if row["method"] == name]
        cells = [name, str(len(own))]
        for target in TARGETS:
            for count in (labels_to, first_hit):
                cells.append(_range([count(target, row["labels"], row["accuracy"]) for row in own], budget))
        cells.append(f"{100 * fmean(row['accuracy'][-1] for row in own):.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def labels_needed(rows: Sequence[Row], target: float, *, budget: int) -> str:
    """Median and range of the labels to an accuracy."""
    return _range([labels_to(target, row["labels"], row["accuracy"]) for row in rows], budget)


def picture(rows: Mapping[str, Sequence[Row]], path: Path, *, title: str) -> None:
    """The curves of every named group of rows: mean and range over the seeds."""
    drawn = []
    for name, own in rows.items():
        labels = own[0]["labels"]
        if any(row["labels"] != labels for row in own):
            raise ValueError(f"the runs of {name} differ in their numbers of labels")
        accuracy = [row["accuracy"] for row in own]
        drawn.append(Curve(name=name, seeds=[row["seed"] for row in own], labels=labels, values=accuracy))
    new = path.with_name(f"new-{path.name}")
    save(figure(drawn, title=title), new)
    new.replace(path)


def _range(found: Sequence[int | None], budget: int) -> str:
    needed = sorted(math.inf if count is None else count for count in found)
    low, mid, high = (
        f"> {budget}" if math.isinf(value) else f"{value:g}"
        for value in (needed[0], median(needed), needed[-1])
    )
    return f"{mid} ({low} to {high})"

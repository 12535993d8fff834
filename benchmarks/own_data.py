"""One's own photos and sentences: the default model and what it asks, on real pools of frozen features.

The defaults were read off TrashNet, CIFAR-10 and TREC. Fashion-MNIST and XED (English, lines with one
emotion) were not looked at before: they are the headline. Every run goes through the loop.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import frozen
from jobs import curves, tables
from jobs.experiment import Experiment, Key, Row, options, plain
from torch import Tensor

import askwise as aw
from askwise.bayes.evaluate import evaluate
from askwise.bayes.posteriors import as_posterior
from askwise.loop.calibration import LEAST
from askwise.loop.decide import Train
from askwise.math.temperature import prior
from askwise.project.plan_file import asking

SEEDS = range(20)
HEADLINE, DEVELOPMENT = ("xed", "fashion_mnist"), ("trec", "trashnet", "cifar10")
BATCH, BUDGET = 10, 150
DEFAULT, RANDOM, BBB, ALL = "default", "random", "bbb + bald", "all labels"
PROJECT, BARE = "project", "project, not tempered"
TESTED = {"testing": 0.2, "region": 0.3}  # what `askwise new` writes
LEARNS: Mapping[str, tuple[str, str | Mapping[str, Any]]] = {
    DEFAULT: ("on_axes", "modal"),
    RANDOM: ("on_axes", "modal"),
    BBB: ("linear", {"name": "bbb", "last": 1}),
    ALL: ("on_axes", "modal"),
    PROJECT: ("on_axes", "modal"),
}
MEASURES = {
    "accuracy": tables.Measure(key="accuracy", title="accuracy, %", write="{:.2f}", factor=100.0, high=True),
    "nll": tables.Measure(key="nll", title="NLL, nats", write="{:.3f}"),
    "ece": tables.Measure(key="ece", title="ECE, %", write="{:.2f}", factor=100.0),
}


def choices(method: str, classes: int) -> dict[str, Any]:
    """What a method learns with and asks by, beside what all have in common."""
    network, posterior = LEARNS[method]
    first = asking(classes, featured=True)
    if method == PROJECT:
        first |= TESTED
    elif method != DEFAULT:
        first = {"initial": first["initial"], "acquire": "bald" if method == BBB else "random"}
    return {"network": network, "posterior": options(as_posterior(posterior)), "batch": BATCH, **first}


def settings(key: Key) -> Mapping[str, Any]:
    """All that decides a run beside its key; the number of classes stands for the set."""
    sizes = {"pool": frozen.POOL, "test": frozen.TEST, "budget": BUDGET}
    told = choices(str(key["method"]), frozen.CLASSES[str(key["set"])])
    if key["method"] == PROJECT:
        told["tempered"] = {"from": LEAST, "prior": prior(math.e)}
    return plain({**told, **sizes, "encoder": frozen.ENCODERS[str(key["set"])]})


def run(key: Key, scratch: Path) -> dict[str, Any]:
    """Accuracy, NLL and ECE on the test items after every round; a run that was killed goes on."""
    found, method = frozen.frozen(str(key["set"])), str(key["method"])
    told = choices(method, found.classes)
    network = aw.nets.build(told.pop("network"), features=found.pool_x.shape[1], classes=found.classes)
    ids = [f"{key['set']}-{number:05d}" for number in range(len(found.pool_y))]
    labels = dict(zip(ids, found.pool_y.tolist(), strict=True))
    budget = BUDGET
    if method == ALL:
        told |= {"initial": labels}
        budget = len(labels)
    test = (found.test_x, found.test_y)
    with aw.Learner(
        network,
        pool=aw.pool.arrays(found.pool_x, ids=ids),
        classes=found.classes,
        budget=budget,
        seed=int(key["seed"]),
        store=None if method == PROJECT else scratch / "run.db",  # what is measured on the way is in no store
        test=None if method == PROJECT else test,
        **told,
    ) as ours:
        if method == PROJECT:
            return _followed(ours, labels, test)
        ours.run(oracle=labels)
        rounds = ours.rounds()
    return {
        "labels": [one.labels for one in rounds],
        **{name: [one.metrics["test"][name] for one in rounds] for name in MEASURES},
        "train_seconds": fmean(one.seconds["train"] for one in rounds),
    }


def _followed(ours: aw.Learner, labels: Mapping[str, int], test: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """The model that a project would hand over after each round, with its temperature and without.

    `labels` counts all answers, those that test among them; they are never learned from.
    """
    told: dict[int, dict[str, float]] = {}

    def look(_: object = None) -> None:
        rounds, counts = ours.rounds(), ours.status().counts
        if rounds and rounds[-1].number not in told:
            model = ours.fitted
            handed, bare = (evaluate(one, test, draws=1) for one in (model, replace(model, temperature=1.0)))
            told[rounds[-1].number] = {
                "labels": counts.labelled + counts.tested,
                "tests": counts.tested,
                "temperature": model.temperature,
                **{name: handed[name] for name in MEASURES},
                **{f"bare_{name}": bare[name] for name in MEASURES},
            }

    ours.run(oracle=labels, on_action=lambda action: None if isinstance(action, Train) else look())
    look()
    return {
        **{name: [one[name] for one in told.values()] for name in next(iter(told.values()))},
        "train_seconds": fmean(one.seconds["train"] for one in ours.rounds()),
    }


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/own_data.md and a picture of the curves of every set."""
    lines = [
        "# One's own photos and sentences",
        "",
        f"A simulated person through the loop: {BATCH} answers a round, to {BUDGET} labels; pools of {frozen.POOL:,} "
        f"items, tested on {frozen.TEST:,} others (TrashNet: three quarters and one). Photos through Lite2 at 320 px, "
        "texts through MiniLM. *default*: what `askwise new` writes (a layer on principal axes, its mode; typiclust "
        "first, then margin). *random*: the same model, items at random. *bbb + bald*: a Bayesian last layer on the "
        "same features, made before its means had a rate of their own there (docs/method.md). *project*: the default as "
        "`askwise new` writes it whole, a fifth of the answers testing the "
        "model and never learned from: these choose the temperature of the model that is handed over, and count as "
        "labels here. **Fashion-MNIST and XED are the headline: no default was chosen on them.** TREC, TrashNet and "
        "CIFAR-10 are development sets.",
        "",
        tables.ABOUT.format(units="seeds"),
        "",
    ]
    for name in (*HEADLINE, *DEVELOPMENT):
        own = [row for row in rows if row["set"] == name and row["method"] != ALL]
        if not own:
            lines += [f"## {name}", "", "Not run yet.", ""]
            continue
        kind = "headline" if name in HEADLINE else "development"
        lines += [f"## {name} ({kind})", "", *_of_set(name, own, rows)]
        groups = {method: [row for row in own if row["method"] == method] for method in LEARNS}
        drawn = {method: some for method, some in groups.items() if some}
        curves.picture(drawn, folder / f"own_data_{name}.png", title=name)
        lines += [f"![{name}](own_data_{name}.png)", ""]
    tables.save(folder / "own_data.md", [*lines, *tables.footer(rows)])


def _of_set(name: str, own: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    lines = curves.areas(own, budget=BUDGET, baseline=RANDOM)
    for at in (50, BUDGET):
        for measure, how in MEASURES.items():
            values = tables.of(own, lambda row, key=measure, count=at: _at(row, key, count), by="method")
            lines += [f"At {at} labels:", "", *tables.differences(values, how, baseline=RANDOM)]
    for measure in ("nll", "ece") if any(row["method"] == PROJECT for row in own) else ():
        both = tables.of([row for row in own if row["method"] == PROJECT], _last(measure), by="method")
        both |= {BARE: tables.of(own, _last(f"bare_{measure}"), by="method")[PROJECT]}
        lines += [
            f"What the temperature does at {BUDGET} answers:",
            "",
            *tables.differences(both, MEASURES[measure], baseline=BARE),
        ]
    lines += _temperatures(own)
    whole = [row for row in rows if row["set"] == name and row["method"] == ALL]
    if whole:
        best = whole[0]["accuracy"][-1]
        lines += [
            f"With all {whole[0]['labels'][-1]:,} labels: {100 * best:.2f} %. Labels to 90 % of that, medians:",
            "",
        ]
        for method in LEARNS:
            some = [row for row in own if row["method"] == method]
            if some:
                lines.append(f"- {method}: {curves.labels_needed(some, 0.9 * best, budget=BUDGET)}")
        lines.append("")
    return lines


def _temperatures(own: Sequence[Row]) -> list[str]:
    """How far the temperatures of the last models lie from 1, and which way."""
    found = sorted(row["temperature"][-1] for row in own if row["method"] == PROJECT)
    if not found:
        return []
    low = sum(value < 1 for value in found)
    told = f"median {median(found):.2f} ({found[0]:.2f} to {found[-1]:.2f})"
    return [
        f"Temperatures of the last models: {told}; below 1, so more confident, in {low} of {len(found)}.",
        "",
    ]


def _last(measure: str) -> Callable[[Row], float | None]:
    """A measure of the last model, where a row has it."""
    return lambda row: row[measure][-1] if measure in row.values else None


def _at(row: Row, measure: str, labels: int) -> float | None:
    """A measure of the last round with at most so many labels."""
    places = [place for place, count in enumerate(row["labels"]) if count <= labels]
    return row[measure][places[-1]] if places else None


EXPERIMENT = Experiment(
    name="own_data",
    about="the default of askwise new on photos and sentences, beside random and bbb + bald",
    jobs=[
        {"set": name, "method": method, "seed": seed}
        for name in (*HEADLINE, *DEVELOPMENT)
        for method, seed in [
            (ALL, 0),
            *((method, seed) for seed in SEEDS for method in (DEFAULT, RANDOM, BBB, PROJECT)),
        ]
    ],
    settings=settings,
    run=run,
    tables=write,
    seconds=60,
)

"""What an untouched training and an untouched bbb should be: small grids on held-out training data."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from jobs import tables
from jobs.experiment import Experiment, Key, Row, options
from torch import Tensor, nn

import askwise as aw
from askwise.seeding import derive, generator

Labelled = tuple[Tensor, Tensor]

SEEDS, DRAWS = range(3), 30
TRAININGS: Mapping[str, aw.Training] = {
    "50 epochs, lr 1e-3": aw.Training(epochs=50, lr=1e-3),
    "500 steps, lr 1e-3": aw.Training(epochs=50, min_steps=500, lr=1e-3),
    "500 steps, lr 3e-3": aw.Training(epochs=50, min_steps=500, lr=3e-3),
    "500 steps, lr 3e-3, cosine": aw.Training(epochs=50, min_steps=500, lr=3e-3, schedule="cosine"),
    "2,000 steps, lr 1e-3": aw.Training(epochs=50, min_steps=2000, lr=1e-3),
}
POSTERIORS = {"point": aw.point(), "mc_dropout": aw.mc_dropout(), "bbb": aw.bbb()}
SETS = ("digits mlp", "digits cnn", "mnist", "uci/yacht", "uci/concrete")
OLD = "as it was"
WIDTHS: Mapping[str, Mapping[str, Any]] = {
    OLD: {"shared_rate": True, "prior_std": 1.0, "kl_weight": 1.0, "warm_up": "constant"},
    "default": {},
    "kl_weight .1": {"kl_weight": 0.1},
    "kl_weight 1": {"kl_weight": 1.0},
    "kl_weight 1, prior 1": {"kl_weight": 1.0, "prior_std": 1.0},
    "no warm-up": {"warm_up": "constant"},
}


@cache
def data(name: str) -> tuple[Labelled, Labelled]:
    """Items to draw labels from, and held-out ones to measure on: both of the training part."""
    if name.startswith("uci/"):
        table = aw.data.load(name)
        x, y = table.train_x, table.train_y
        held = len(x) // 5
    else:
        images = aw.data.load(name.split()[0])
        x, y = images.train_x, images.train_y
        held = 200 if name.startswith("digits") else 2000
    order = torch.randperm(len(x), generator=generator(0, "defaults", name))
    (x, y), (held_x, held_y) = ((x[at], y[at]) for at in (order[held:], order[:held]))
    if name.startswith("uci/"):
        held_x, held_y = (held_x - x.mean(0)) / _std(x), (held_y - y.mean(0)) / _std(y)
        x, y = (x - x.mean(0)) / _std(x), (y - y.mean(0)) / _std(y)
    return (x, y), (held_x, held_y)


def _std(values: Tensor) -> Tensor:
    return values.std(dim=0).clamp(min=1e-6)


def network(name: str, width: int) -> nn.Module:
    """A usual network for a set, with dropout."""
    if name == "digits mlp":
        return aw.nets.mlp(width, 10, hidden=(64, 64), dropout=0.25)
    if name == "digits cnn":
        return aw.nets.digits_cnn()
    if name == "mnist":
        return aw.nets.gal_cnn()
    return aw.nets.homoscedastic(aw.nets.mlp(width, 1, hidden=(50,), dropout=0.05))


def measured(key: Key, posterior: Any, training: aw.Training) -> dict[str, Any]:
    """How good a posterior is on the held-out items after learning so many labels."""
    name, seed = str(key["set"]), int(key["seed"])
    (x, y), held = data(name)
    chosen = torch.randperm(len(x), generator=generator(seed, "defaults", "labels"))[: int(key["labels"])]
    fitted = aw.fit(
        network(name, x[0].numel()),
        (x[chosen], y[chosen]),
        posterior=posterior,
        task=aw.tasks.regression(standardise=False) if name.startswith("uci/") else "classification",
        training=training,
        start="scratch",
        seed=derive(seed, "defaults", "fit"),
    )
    found = aw.evaluate(fitted, held, draws=DRAWS, seed=seed)
    return {"nll": found["nll"], "accuracy": found.get("accuracy"), "rmse": found.get("rmse")}


def _training(key: Key, _: Path) -> dict[str, Any]:
    return measured(key, POSTERIORS[str(key["posterior"])], TRAININGS[str(key["setting"])])


def _bbb(key: Key) -> Any:
    place = {"all": True} if key["placement"] == "all" else {"last": 1}
    return aw.bbb(**place, **WIDTHS[str(key["setting"])])


def _width(key: Key, _: Path) -> dict[str, Any]:
    return measured(key, _bbb(key), aw.Training())


def cells(rows: Sequence[Row], columns: Sequence[str], settings: Mapping[str, Any]) -> list[str]:
    """A table: one line for each combination of the columns, accuracy (or RMSE) / NLL of each setting."""
    lines = [
        f"| {' | '.join([*columns, 'n', *settings])} |",
        f"|{'---|' * (len(columns) + 1 + len(settings))}",
    ]
    groups: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[c] for c in columns), {}).setdefault(row["setting"], []).append(row)
    for group, by_setting in groups.items():
        n = min(len(found) for found in by_setting.values())
        told = [_cell(by_setting.get(name, [])) for name in settings]
        lines.append(f"| {' | '.join([*map(str, group), str(n), *told])} |")
    return [*lines, ""]


def summary(rows: Sequence[Row], *, baseline: str) -> list[str]:
    """The NLL of every setting over all lines of the table above, seed by seed, beside the baseline's."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        found.setdefault(row["setting"], {}).setdefault(row["seed"], []).append(row["nll"])
    most = max((len(nlls) for seeds in found.values() for nlls in seeds.values()), default=0)
    values = {
        setting: {seed: fmean(nlls) for seed, nlls in seeds.items() if len(nlls) == most}
        for setting, seeds in found.items()
    }
    whole = {setting: seeds for setting, seeds in values.items() if seeds}
    title = tables.Measure(key="nll", title="mean NLL of all lines")
    return [tables.ABOUT.format(units="seeds"), "", *tables.differences(whole, title, baseline=baseline)]


def _cell(rows: Sequence[Row]) -> str:
    if not rows:
        return "–"
    nll = fmean(row["nll"] for row in rows)
    if rows[0]["accuracy"] is None:
        return f"{fmean(row['rmse'] for row in rows):.3f} / {nll:.2f}"
    return f"{100 * fmean(row['accuracy'] for row in rows):.1f} / {nll:.2f}"


def _write_trainings(rows: Sequence[Row], folder: Path) -> None:
    lines = [
        "# What an untouched training should be",
        "",
        "Accuracy in % (RMSE of standardised targets on UCI) / NLL, means over the seeds, on items that are held out of "
        "the training part; test items are not used. `aw.Training()` is what this table favours: 50 epochs and at least "
        "500 steps of Adam at 3e-3. A longer training gains a little accuracy and loses NLL where labels are few, because "
        "networks without a width grow sure of what they have seen.",
        "",
        *cells(rows, ("set", "labels", "posterior"), TRAININGS),
        *summary(rows, baseline="500 steps, lr 3e-3"),
        *tables.footer(rows),
    ]
    tables.save(folder / "default_training.md", lines)


def _write_widths(rows: Sequence[Row], folder: Path) -> None:
    lines = [
        "# What an untouched bbb should be",
        "",
        "Accuracy in % / NLL, means over the seeds, on training digits that are held out; test digits are not used. "
        f"*{OLD}*: rho learns at the weights' rate, prior N(0, 1), kl_weight 1. *default*: rho has its own rate, "
        "prior variance 2 / fan-in, kl_weight .01, KL warmed up over the first half. The other columns change the default.",
        "",
        *cells(rows, ("set", "placement", "labels"), WIDTHS),
        *summary(rows, baseline=OLD),
        *tables.footer(rows),
    ]
    tables.save(folder / "default_bbb.md", lines)


def _labels(name: str) -> tuple[int, ...]:
    return (20, 100) if name in ("mnist", "uci/yacht") else (20, 100, 800)


TRAINING = Experiment(
    name="default_training",
    about="which training suits few labels, on held-out training data",
    jobs=[
        {"set": name, "labels": labels, "posterior": posterior, "setting": setting, "seed": seed}
        for seed in SEEDS
        for name in SETS
        for labels in _labels(name)
        for posterior in (POSTERIORS if name != "mnist" else ["mc_dropout"])
        for setting in TRAININGS
    ],
    settings=lambda key: {
        "posterior": options(POSTERIORS[str(key["posterior"])]),
        "training": options(TRAININGS[str(key["setting"])]),
        "draws": DRAWS,
    },
    run=_training,
    tables=_write_trainings,
    seconds=5,
)
WIDTH = Experiment(
    name="default_bbb",
    about="which prior, temperature and warm-up suit bbb, on held-out training digits",
    jobs=[
        {"set": name, "placement": placement, "labels": labels, "setting": setting, "seed": seed}
        for seed in SEEDS
        for name in ("digits mlp", "digits cnn")
        for placement in ("last", "all")
        for labels in (20, 60, 240, 800)
        for setting in WIDTHS
    ],
    settings=lambda key: {
        "posterior": options(_bbb(key)),
        "training": options(aw.Training()),
        "draws": DRAWS,
    },
    run=_width,
    tables=_write_widths,
    seconds=5,
)

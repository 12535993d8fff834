"""Pruning LeNet-5 on MNIST, ten seeds: is the signal-to-noise ratio a better criterion than the size of a weight?"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from jobs import tables
from jobs.experiment import Experiment, Key, Row, digest, options, plain
from jobs.tables import Measure
from matplotlib.figure import Figure
from provenance import commit
from torch.utils.flop_counter import FlopCounterMode

import askwise as aw
from askwise.report.figure import COLOURS
from askwise.seeding import derive

SEEDS = range(10)
SPARSITIES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.98)
FRACTIONS = (0.25, 0.5, 0.75)  # of filters and units
POSTERIORS = {"bbb": aw.bbb(all=True, prior_std=0.1, kl_weight=1.0), "point": aw.point()}
CRITERIA = {"bbb": ("snr", "l1"), "point": ("l1",)}
BASELINE = "bbb, l1"
TRAINING: dict[str, Any] = {"epochs": 10, "batch_size": 256, "lr": 1e-3}
TUNING: dict[str, Any] = {**TRAINING, "epochs": 1}
DRAWS = 20
ACCURACY = Measure(key="accuracy", title="accuracy, %", write="{:.2f}", factor=100.0, high=True)
NLL = Measure(key="nll", title="NLL")
ABOUT = (
    "LeNet-5 (6 and 16 filters, 400-120-84-10, relu, max-pooling; 28 x 28 images padded to 32 x 32) learns from all "
    f"60,000 training images, {TRAINING}; bbb: every layer Gaussian with the prior N(0, 0.1^2) and kl_weight 1, otherwise the "
    "library's defaults. Weights: the lowest of all layers together, by |mean| / std (snr) or |mean| (l1), are zero in "
    "every draw, without training after it. Filters: the lowest fraction of the filters of both convolutions and of the "
    "units of both hidden layers, by the mean of the same scores, is removed; then one more epoch. Measured on the "
    f"10,000 test images under the mean of {DRAWS} draws. Both criteria prune the same model of a seed. Nothing was "
    "chosen on the test images."
)


@cache
def data() -> aw.data.Dataset:
    """MNIST, read once for all jobs of a process."""
    return aw.data.load("mnist")


def model(posterior: str, seed: int, scratch: Path) -> aw.Fitted:
    """The model of a posterior and seed: trained, or as the other job of the same code has trained it."""
    wanted = digest([settings({"posterior": posterior}), commit()])
    shared = scratch.parent / f"model-{posterior}-{seed}-{wanted}"
    if shared.exists() and not commit().endswith("-dirty"):
        return aw.load(shared)
    images = data()
    fitted = aw.fit(
        aw.nets.lenet5(size=28),
        (images.train_x, images.train_y),
        posterior=POSTERIORS[posterior],
        training=aw.Training(**TRAINING),
        start="scratch",
        seed=derive(seed, "pruning", "fit"),
    )
    fitted.save(scratch / "model")
    with suppress(OSError):  # the other job may have put its own there
        (scratch / "model").rename(shared)
    return fitted


def run(key: Key, scratch: Path) -> dict[str, Any]:
    """All sparsities, or all fractions of filters, of one model by its criteria."""
    posterior, seed = str(key["posterior"]), int(key["seed"])
    fitted = model(posterior, seed, scratch)
    part = _weights if key["part"] == "weights" else _filters
    return {"points": [point for by in CRITERIA[posterior] for point in part(fitted, by, seed)]}


def _weights(fitted: aw.Fitted, by: str, seed: int) -> list[dict[str, Any]]:
    found = []
    for share in SPARSITIES:
        pruned = aw.prune(fitted, by=by, amount=share)
        found.append(
            {"by": by, "share": share, **_quality(pruned, seed), "layers": aw.sparsity(pruned).layers}
        )
    return found


def _filters(fitted: aw.Fitted, by: str, seed: int) -> list[dict[str, Any]]:
    images, found = data(), []
    for share in FRACTIONS:
        small = aw.prune_filters(fitted, images.test_x[:8], by=by, amount=share, dense=True)
        tuned = aw.fit(
            small.network,
            (images.train_x, images.train_y),
            posterior=small.posterior,
            training=aw.Training(**TUNING),
            start=small,
            seed=derive(seed, "pruning", "tune"),
        )
        found.append(
            {
                "by": by,
                "share": share,
                "parameters": sum(p.numel() for p in small.network.parameters()),
                "parameters_whole": sum(p.numel() for p in fitted.network.parameters()),
                "flops": _flops(small),
                "flops_whole": _flops(fitted),
                **_quality(small, seed),
                **{f"tuned_{name}": value for name, value in _quality(tuned, seed).items()},
            }
        )
    return found


def _quality(fitted: aw.Fitted, seed: int) -> dict[str, float]:
    images = data()
    draws = 1 if fitted.posterior.name == "point" else DRAWS
    told = aw.evaluate(
        fitted, (images.test_x, images.test_y), draws=draws, seed=derive(seed, "pruning", "draws")
    )
    return {name: told[name] for name in ("accuracy", "nll", "ece")}


def _flops(fitted: aw.Fitted) -> int:
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        fitted.network(data().test_x[:1])
    return counter.get_total_flops()


def settings(key: Key) -> dict[str, Any]:
    """All that decides a job beside its key."""
    return plain(
        {
            "network": "lenet5",
            "draws": DRAWS,
            "sparsities": SPARSITIES,
            "fractions": FRACTIONS,
            "criteria": CRITERIA[str(key["posterior"])],
            "posterior": options(POSTERIORS[str(key["posterior"])]),
            "training": options(aw.Training(**TRAINING)),
            "tuning": options(aw.Training(**TUNING)),
        }
    )


def curves(rows: Sequence[Row], part: str, key: str) -> dict[str, dict[str, dict[int, float]]]:
    """One measure by share, by model and criterion, and by seed."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in (row for row in rows if row["part"] == part):
        for point in row["points"]:
            share, name = f"{100 * point['share']:g} %", f"{row['posterior']}, {point['by']}"
            found.setdefault(share, {}).setdefault(name, {})[row["seed"]] = point[key]
    return found


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/pruning.md and .png."""
    lines = ["# Pruning LeNet-5 on MNIST", "", ABOUT, "", tables.ABOUT.format(units="seeds"), ""]
    weights, filters = (curves(rows, part, "accuracy") for part in ("weights", "filters"))
    if weights:
        lines += ["## Weights set to zero", "", *_averages(weights)]
        for found, one in ((weights, ACCURACY), (curves(rows, "weights", "nll"), NLL)):
            found.get("0 %", {}).pop("bbb, snr", None)  # nothing is pruned there: one model, not two
            lines += tables.grouped(found, one, baseline=BASELINE, what="zero weights")
    if filters:
        lines += ["## Filters and units removed", "", *_sizes(rows), "Before any more training:", ""]
        lines += tables.grouped(filters, ACCURACY, baseline=BASELINE, what="removed")
        lines += ["After one more epoch:", ""]
        tuned = curves(rows, "filters", "tuned_accuracy")
        lines += tables.grouped(tuned, ACCURACY, baseline=BASELINE, what="removed")
    lines += [*tables.footer(rows), "![Accuracy against sparsity](pruning.png)", ""]
    tables.save(folder / "pruning.md", lines)
    _picture(rows, folder / "pruning.png")


def _averages(weights: dict[str, dict[str, dict[int, float]]]) -> list[str]:
    """The primary number: the mean accuracy over the sparsities from 75 % on."""
    sparse = [f"{100 * share:g} %" for share in SPARSITIES if share >= 0.75]
    values: dict[str, dict[Any, float]] = {}
    for name, seeds in weights[sparse[0]].items():
        values[name] = {seed: fmean(weights[share][name][seed] for share in sparse) for seed in seeds}
    head = f"Mean over the sparsities {', '.join(sparse)}, the primary number:"
    return [head, "", *tables.differences(values, ACCURACY, baseline=BASELINE), "Each sparsity:", ""]


def _sizes(rows: Sequence[Row]) -> list[str]:
    points = {
        (row["posterior"], point["by"], point["share"]): point
        for row in rows
        if row["part"] == "filters"
        for point in row["points"]
    }
    lines = ["| model, criterion | removed | parameters | FLOPs |", "|---|---|---|---|"]
    for (posterior, by, share), point in points.items():
        kept = [
            f"{point[name]:,} ({100 * point[name] / point[f'{name}_whole']:.0f} %)"
            for name in ("parameters", "flops")
        ]
        lines.append(f"| {posterior}, {by} | {100 * share:g} % | {' | '.join(kept)} |")
    return [*lines, ""]


def _picture(rows: Sequence[Row], path: Path) -> None:
    drawn = Figure(figsize=(9.0, 4.0), layout="constrained")
    parts = (
        ("weights", "accuracy", "Weights set to zero", "-"),
        ("filters", "accuracy", "Filters removed (solid: after one more epoch)", "--"),
        ("filters", "tuned_accuracy", "", "-"),
    )
    left, right = drawn.subplots(1, 2)
    for axes, (part, key, title, style) in zip((left, right, right), parts, strict=True):
        found = curves(rows, part, key)
        names = list(dict.fromkeys(name for values in found.values() for name in values))
        for name, colour in zip(names, COLOURS, strict=False):
            at = [float(share.split()[0]) for share in found]
            mean = [100 * fmean(values[name].values()) for values in found.values()]
            axes.plot(at, mean, style, color=colour, marker="o", label=name if style == "-" else None)
        if title:
            axes.set(title=title, xlabel="%", ylabel="test accuracy, %", ylim=(0, 101))
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        if names and style == "-":
            axes.legend(frameon=False, loc="lower left")
    drawn.savefig(path, dpi=160)


EXPERIMENT = Experiment(
    name="pruning",
    about="signal to noise against L1, LeNet-5 on MNIST, 10 seeds",
    jobs=[
        {"part": part, "posterior": posterior, "seed": seed}
        for part in ("weights", "filters")
        for seed in SEEDS
        for posterior in POSTERIORS
    ],
    settings=settings,
    run=run,
    tables=write,
    seconds=250,
    ready=data,
)

"""The eight networks of Zeng et al. 2018: one network, eight placements, 1,000 random MNIST labels, ten seeds."""

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jobs import tables
from jobs.experiment import Experiment, Key, Row, options
from jobs.tables import Measure

import askwise as aw
from askwise.seeding import derive, generator

PLACEMENTS = {
    "BNN": aw.bbb(all=True),
    "BNN-1": aw.bbb(last=1),
    "BNN-2": aw.bbb(last=2),
    "BNN-3": aw.bbb(last=3),
    "BNN1": aw.bbb(first=1),
    "BNN2": aw.bbb(first=2),
    "BNN3": aw.bbb(first=3),
    "CNN": aw.point(),
}
SEEDS = range(10)
BASELINE = "BNN"  # the paper's claims are about it
LABELS, DRAWS = 1000, 20
TRAINING: dict[str, Any] = {"epochs": 50, "batch_size": 64, "lr": 1e-3}
MEASURES = (
    Measure(key="accuracy", title="accuracy, %", write="{:.2f}", factor=100.0, high=True),
    Measure(key="nll", title="NLL"),
    Measure(key="ece", title="ECE, 15 bins"),
)
ABOUT = (
    f"Gal's CNN, {LABELS:,} training images drawn by the seed, new weights from the seed, training "
    f"{TRAINING}; bbb with its defaults at each placement (biases deterministic, dropout off at prediction). The mean of "
    f"{DRAWS} draws on the 10,000 test images. Labels, first weights and draws of a seed are the same for all eight. "
    "Nothing was chosen on the test images. Zeng et al. compare after active learning to about 1,000 labels, over three "
    "trials; here the labels are random, so only the placement differs."
)


@cache
def data() -> aw.data.Dataset:
    """MNIST, read once for all jobs of a process."""
    return aw.data.load("mnist")


def run(key: Key, _: Path) -> dict[str, Any]:
    """How good one placement is, and what it costs in CPU seconds."""
    seed, images = int(key["seed"]), data()
    chosen = torch.randperm(len(images.train_x), generator=generator(seed, "placements", "labels"))[:LABELS]
    start = time.process_time()
    fitted = aw.fit(
        aw.nets.gal_cnn(),
        (images.train_x[chosen], images.train_y[chosen]),
        posterior=PLACEMENTS[str(key["placement"])],
        training=aw.Training(**TRAINING),
        start="scratch",
        seed=derive(seed, "placements", "fit"),
    )
    learned = time.process_time()
    drawn = {"draws": DRAWS, "seed": derive(seed, "placements", "draws")}
    aw.predict(fitted, images.test_x, **drawn)
    done = time.process_time()
    told = aw.evaluate(fitted, (images.test_x, images.test_y), **drawn)
    return {
        **{name: told[name] for name in ("accuracy", "nll", "brier", "ece")},
        "parameters": sum(tensor.numel() for tensor in fitted.tensors().values()),
        "gaussian_scales": sum(tensor.numel() for tensor in fitted.state.values()),
        "form": next(iter(fitted.programs.values())).form,
        "training_cpu_s": learned - start,
        "prediction_cpu_s": done - learned,
        "last_epoch": fitted.history[-1],
    }


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/placements.md."""
    lines = ["# The eight placements on 1,000 MNIST labels", "", ABOUT, ""]
    lines += [tables.ABOUT.format(units="seeds"), ""]
    for one in MEASURES:
        lines += [f"## {one.title}", ""]
        lines += tables.differences(tables.of(rows, one.key, by="placement"), one, baseline=BASELINE)
    lines += [
        "## Cost",
        "",
        f"CPU seconds of one thread: training, and prediction of 10,000 images under {DRAWS} draws.",
    ]
    lines += [
        "",
        "| placement | parameters | of these Gaussian scales | training s | prediction s | suffix |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    for name in PLACEMENTS:
        own = [row for row in rows if row["placement"] == name]
        if own:
            spent = [
                tables.mean_and_error([row[part] for row in own], "{:.1f}")
                for part in ("training_cpu_s", "prediction_cpu_s")
            ]
            sizes = f"{own[0]['parameters']:,} | {own[0]['gaussian_scales']:,}"
            lines.append(f"| {name} | {sizes} | {' | '.join(spent)} | {own[0]['form']} |")
    tables.save(folder / "placements.md", [*lines, "", *tables.footer(rows)])


EXPERIMENT = Experiment(
    name="placements",
    about="Zeng's eight networks on 1,000 MNIST labels, 10 seeds",
    jobs=[{"placement": name, "seed": seed} for seed in SEEDS for name in PLACEMENTS],
    settings=lambda key: {
        "network": "gal_cnn",
        "labels": LABELS,
        "draws": DRAWS,
        "training": options(aw.Training(**TRAINING)),
        "posterior": options(PLACEMENTS[str(key["placement"])]),
    },
    run=run,
    tables=write,
    seconds=200,
    ready=data,
)

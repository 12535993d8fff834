"""Bayesian SegNet-Basic on CamVid at 120 x 90: mean IoU, maps of uncertainty, and three rounds of asking.

    ASKWISE_DATA=DIR python benchmarks/camvid.py            interrupted, it goes on

Every training appends a line to results/camvid.jsonl; finished ones are skipped. Table and pictures:
results/camvid.md, camvid.png (curves), camvid_uncertainty.png (maps).
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from provenance import commit
from torch import Tensor

import askwise as aw

WIDTH, BATCH, LR, DRAWS, SEED = 32, 4, 1e-3, 10, 0
EPOCHS_ALL, EPOCHS_ROUND = 20, 40
INITIAL, ASKED, ROUNDS = 30, 30, 3
METHODS = ("random", "bald")
PROTOCOL = (
    f"SegNet-Basic with {WIDTH} filters at 120 x 90, Adam {LR:g}, batch {BATCH}, flips, new "
    f"weights for every training, seed {SEED}; mean of {DRAWS} draws on the 233 test images "
    f"at 120 x 90, unlabelled pixels left out. All 367 training images: {EPOCHS_ALL} epochs. Asking: {INITIAL} random "
    f"images first, then {ROUNDS} rounds of {ASKED} by the mean of a score over the pixels, {EPOCHS_ROUND} epochs each. "
    f"One seed: differences of a point or two are noise. Weighting the classes by their frequency was given up after a "
    f"first pass (mean IoU .27 on all images: rare classes were guessed everywhere); 40 images of the training part, "
    f"held out, agreed."
)
HERE = Path(__file__).parent.parent
RESULTS, RUNS = HERE / "results", HERE / ".runs" / "camvid"
LINES = RESULTS / "camvid.jsonl"


def rows() -> dict[str, dict[str, Any]]:
    """Finished trainings by name."""
    lines = LINES.read_text().splitlines() if LINES.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def learned(data: aw.data.Dataset, chosen: Tensor, epochs: int) -> aw.Fitted:
    """A network that has learned from the chosen images."""
    return aw.fit(
        aw.nets.segnet_basic(classes=len(data.classes), width=WIDTH),
        (data.train_x[chosen], data.train_y[chosen]),
        posterior=aw.mc_dropout(),
        task=aw.tasks.segmentation(ignore=data.ignore),
        training=aw.Training(epochs=epochs, batch_size=BATCH, lr=LR, augment="flip"),
        start="scratch",
        seed=SEED,
    )


def trained(name: str, data: aw.data.Dataset, chosen: Tensor, epochs: int) -> aw.Fitted:
    """The model of that name: trained on the chosen images and measured, or read from an earlier run."""
    folder = RUNS / f"{name}-{epochs}"
    known = (folder / "manifest.json").exists()
    if known and name in rows():
        return aw.load(folder)
    started = time.process_time()
    fitted = aw.load(folder) if known else learned(data, chosen, epochs)
    seconds = None if known else round(time.process_time() - started, 1)
    fitted.save(folder)
    bayesian = aw.evaluate(fitted, (data.test_x, data.test_y), draws=DRAWS)
    row = {
        "name": name,
        "images": len(chosen),
        "chosen": chosen.tolist(),
        "cpu_seconds": seconds,
        "mc_dropout": bayesian,
        "last_epoch": fitted.history[-1],
        "commit": commit(),
    }
    if name == "all":  # the same weights with dropout off
        plain = aw.Fitted(fitted.network, aw.point(), fitted.task, {}, fitted.history)
        row["dropout_off"] = aw.evaluate(plain, (data.test_x, data.test_y), draws=1)
    with LINES.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(name, len(chosen), seconds, round(bayesian["mean_iou"], 4), flush=True)
    return fitted


def ask(method: str, data: aw.data.Dataset, initial: Tensor) -> None:
    """Three rounds of asking for masks."""
    chosen = initial
    for number in range(ROUNDS + 1):
        name = "initial" if number == 0 else f"{method}-{number}"
        fitted = trained(name, data, chosen, EPOCHS_ROUND)
        if number == ROUNDS:
            return
        pool = torch.tensor(sorted(set(range(len(data.train_x))) - set(chosen.tolist())))
        scores = aw.score_pool(fitted, data.train_x[pool], method, draws=DRAWS, seed=number)
        picks = aw.select("top_k", scores=scores, count=ASKED)
        chosen = torch.cat([chosen, pool[picks]])


def maps(fitted: aw.Fitted, data: aw.data.Dataset) -> None:
    """Image, truth, guess and uncertainty of four test images, spread over the set."""
    places = torch.linspace(10, len(data.test_x) - 10, 4).long()
    found = aw.predict(fitted, data.test_x[places], draws=DRAWS)
    colours = plt.get_cmap("tab20")(np.linspace(0, 1, len(data.classes) + 1))[:, :3]
    colours[-1] = 0
    columns = ("image", "truth", "guess", "uncertainty (nats)", "what labels could remove")
    figure, axes = plt.subplots(len(places), len(columns), figsize=(12, 7.6), layout="constrained")
    for row, at in enumerate(places.tolist()):
        shown = [
            (data.test_x[at].permute(1, 2, 0).numpy(), {}),
            (colours[data.test_y[at].numpy()], {}),
            (colours[found.mean[row].argmax(-1).numpy()], {}),
            (found.total[row].numpy(), {"cmap": "magma", "vmin": 0, "vmax": 2}),
            (found.epistemic[row].numpy(), {"cmap": "magma", "vmin": 0, "vmax": 0.5}),
        ]
        for column, (picture, options) in enumerate(shown):
            axes[row, column].imshow(picture, **options)
            axes[row, column].set_axis_off()
            axes[row, column].set_title(columns[column] if row == 0 else "", fontsize=10)
    figure.savefig(RESULTS / "camvid_uncertainty.png", dpi=110)


def write() -> None:
    """Table and curves of what is finished."""
    done = rows()
    lines = ["# SegNet-Basic on CamVid", "", PROTOCOL, ""]
    lines += [
        "| training | images | mean IoU | class-average accuracy | pixel accuracy | NLL | training, CPU s |"
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    order = ["initial", *METHODS, "all"]
    for row in sorted(done.values(), key=lambda row: (order.index(row["name"].split("-")[0]), row["images"])):
        for kind in ("mc_dropout", "dropout_off"):
            if kind in row:
                values = " | ".join(
                    f"{row[kind][key]:.3f}" for key in ("mean_iou", "class_accuracy", "accuracy", "nll")
                )
                label = row["name"] + (", dropout off" if kind == "dropout_off" else "")
                lines.append(f"| {label} | {row['images']} | {values} | {row['cpu_seconds'] or '–'} |")
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, marker in zip(METHODS, "os", strict=True):
        own = [row for name, row in done.items() if name == "initial" or name.startswith(f"{method}-")]
        own.sort(key=lambda row: row["images"])
        axis.plot(
            [r["images"] for r in own],
            [r["mc_dropout"]["mean_iou"] for r in own],
            marker=marker,
            label=method,
        )
    if "all" in done:
        axis.axhline(
            done["all"]["mc_dropout"]["mean_iou"], color="0.5", linestyle="--", label="all 367 images"
        )
    axis.set(
        xlabel="labelled images", ylabel="mean IoU on the test images", title="CamVid, SegNet-Basic, 120 x 90"
    )
    axis.legend()
    figure.savefig(RESULTS / "camvid.png", dpi=110)
    commits = ", ".join(sorted({row["commit"] for row in done.values()}))
    lines += ["", f"Command: `python benchmarks/camvid.py`. Commits: {commits}.", ""]
    lines += ["![Curves](camvid.png)", "", "![Maps of uncertainty](camvid_uncertainty.png)", ""]
    (RESULTS / "camvid.md").write_text("\n".join(lines))
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="ask,all", help="what to train: ask, all")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    data = aw.data.load("camvid", shrink=2)
    if "all" in options.parts:
        maps(trained("all", data, torch.arange(len(data.train_x)), EPOCHS_ALL), data)
    if "ask" in options.parts:
        initial = torch.randperm(len(data.train_x), generator=torch.Generator().manual_seed(SEED))[:INITIAL]
        for method in options.methods.split(","):
            ask(method, data, initial)
    write()


if __name__ == "__main__":
    main()

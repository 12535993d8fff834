"""Pruning LeNet-5 on MNIST: accuracy by sparsity for two criteria, and smaller networks without whole filters.

    ASKWISE_DATA=DIR python benchmarks/pruning.py                     interrupted, it goes on
    ... --images 2000 --epochs 1                                      a trial that writes no results

Starts from the models of benchmarks/lenet.py, and trains them if they are not there. Every finished
measurement is a line of `.runs/pruning/seedN.jsonl`; results/pruning.{json,md,png} are written from them.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from lenet import BATCH, EPOCHS, HERE, LR, RESULTS, Case, mnist, quality, trained
from matplotlib.figure import Figure
from provenance import commit
from torch.utils.flop_counter import FlopCounterMode

import askwise as aw
from askwise.engine import Local

SPARSITIES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.98)
FRACTIONS = (0.25, 0.5, 0.75)
CRITERIA = (("bbb", "snr"), ("bbb", "l1"), ("point", "l1"))
DRAWS, TIMED, REPEATS, TUNED = 20, 1000, 9, 1
COLOURS = {("bbb", "snr"): "#00629e", ("bbb", "l1"): "#c45200", ("point", "l1"): "#00805e"}
PROTOCOL = (
    f"The models `bbb` and `point` of benchmarks/lenet.py. Unstructured: the lowest weights of all layers together, "
    f"by |mean| / std (snr) or |mean| (l1), are zero in every draw; no training after it. Filters: the lowest "
    f"fraction of the filters of both convolutions and of the units of both hidden layers, by the mean of the "
    f"same scores, is removed; then {TUNED} more epoch of the same training (Adam {LR:g} anew, batch {BATCH}). Test "
    f"images: 10,000, mean of {DRAWS} draws. FLOPs: multiplications and additions of one pass of one image. Time: "
    f"aw.predict of {TIMED:,} images under {DRAWS} draws, CPU seconds of one thread, smaller and whole network in "
    f"turn {REPEATS} times; the median ratio (lowest to highest)"
)


def flops(fitted: aw.Fitted, item: torch.Tensor) -> int:
    """Floating-point operations of one pass of one item."""
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        fitted.network(item)
    return counter.get_total_flops()


def ratios(small: aw.Fitted, whole: aw.Fitted, x: torch.Tensor, draws: int) -> list[float]:
    """Prediction time of one model over that of another, measured in turn, in this process."""
    here = Local(processes=1)
    for fitted in (small, whole):
        aw.predict(fitted, x[:1], draws=draws)  # builds the program
    found = []
    for _ in range(REPEATS):
        seconds = []
        for fitted in (small, whole):
            start = time.process_time()
            aw.predict(fitted, x, draws=draws, engine=here)
            seconds.append(time.process_time() - start)
        found.append(seconds[0] / seconds[1])
    return sorted(found)


def sparse(fitted: aw.Fitted, by: str, share: float, data: aw.data.Dataset) -> dict[str, Any]:
    """One point of the curves: the quality at a sparsity, and the sparsity of each layer."""
    pruned = aw.prune(fitted, by=by, sparsity=share)
    draws = 1 if fitted.posterior.name == "point" else DRAWS
    zeros = aw.sparsity(pruned)
    return {
        **quality(pruned, data.test_x, data.test_y, draws=draws),
        "layers": zeros.layers,
        "total": zeros.total,
    }


def smaller(fitted: aw.Fitted, by: str, share: float, data: aw.data.Dataset) -> dict[str, Any]:
    """Size, speed and quality of the network without some of its filters and units."""
    small = aw.prune_filters(fitted, data.test_x[:8], by=by, fraction=share, dense=True)
    draws = 1 if fitted.posterior.name == "point" else DRAWS
    tuned = aw.fit(
        small.network,
        (data.train_x, data.train_y),
        posterior=small.posterior,
        training=aw.Training(epochs=TUNED, batch=BATCH, lr=LR),
        start=small,
    )
    times = ratios(small, fitted, data.test_x[:TIMED], draws)
    return {
        "parameters": sum(p.numel() for p in small.network.parameters()),
        "parameters_whole": sum(p.numel() for p in fitted.network.parameters()),
        "flops": flops(small, data.test_x[:1]),
        "flops_whole": flops(fitted, data.test_x[:1]),
        "time_ratio": statistics.median(times),
        "time_ratio_range": [times[0], times[-1]],
        **quality(small, data.test_x, data.test_y, draws=draws),
        "tuned": quality(tuned, data.test_x, data.test_y, draws=draws),
    }


def run(options: argparse.Namespace, path: Path) -> list[dict[str, Any]]:
    """Every measurement, the finished ones from the file, the others made and appended."""
    data = mnist(options.data, options.images)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    models = {}
    for name in ("bbb", "point"):
        models[name] = trained(Case(name, options.seed, options.epochs, options.images), data)
    digests = {name: fitted.digest() for name, fitted in models.items()}
    rows = [row for row in rows if row["model"] == digests[row["posterior"]]]  # of these very models
    done = {(row["kind"], row["posterior"], row["by"], row["share"]) for row in rows}
    for kind, shares in (("weights", SPARSITIES), ("filters", FRACTIONS)):
        for share in shares:
            for name, by in CRITERIA:
                if (kind, name, by, share) in done:
                    continue
                if kind == "weights":
                    found = sparse(models[name], by, share, data)
                else:
                    found = smaller(models[name], by, share, data)
                row = {"kind": kind, "posterior": name, "by": by, "share": share, **found}
                row |= {"seed": options.seed, "model": digests[name], "commit": commit()}
                rows.append(row)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(kind, name, by, share, f"{100 * row['accuracy']:.2f} %", flush=True)
    return rows


def picked(rows: list[dict[str, Any]], kind: str, name: str, by: str) -> list[dict[str, Any]]:
    """The rows of one curve, in order."""
    chosen = [row for row in rows if (row["kind"], row["posterior"], row["by"]) == (kind, name, by)]
    return sorted(chosen, key=lambda row: row["share"])


def table(rows: list[dict[str, Any]], command: str) -> str:
    """Both measurements as Markdown."""
    head = " | ".join(f"{100 * share:g} %" for share in SPARSITIES)
    lines = [
        "# Pruning LeNet-5 on MNIST",
        "",
        "Test accuracy in % by the fraction of weights set to zero:",
        "",
    ]
    lines += [f"| model, criterion | {head} |", "|---|" + "---|" * len(SPARSITIES)]
    for name, by in CRITERIA:
        cells = [f"{100 * row['accuracy']:.2f}" for row in picked(rows, "weights", name, by)]
        lines.append(f"| {name}, {by} | {' | '.join(cells)} |")
    lines += ["", "Negative log-likelihood of the same:", ""]
    lines += [f"| model, criterion | {head} |", "|---|" + "---|" * len(SPARSITIES)]
    for name, by in CRITERIA:
        cells = [f"{row['nll']:.3f}" for row in picked(rows, "weights", name, by)]
        lines.append(f"| {name}, {by} | {' | '.join(cells)} |")
    lines += [
        "",
        "Networks without whole filters and units:",
        "",
        "| model, criterion | removed | parameters | FLOPs | time to predict | accuracy % | after one epoch more |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, by in CRITERIA:
        for row in picked(rows, "filters", name, by):
            low, high = row["time_ratio_range"]
            lines.append(
                f"| {name}, {by} | {100 * row['share']:g} % "
                f"| {row['parameters']:,} ({100 * row['parameters'] / row['parameters_whole']:.0f} %) "
                f"| {row['flops']:,} ({100 * row['flops'] / row['flops_whole']:.0f} %) "
                f"| {row['time_ratio']:.2f} ({low:.2f} to {high:.2f}) "
                f"| {100 * row['accuracy']:.2f} | {100 * row['tuned']['accuracy']:.2f} |"
            )
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    seeds = ", ".join(sorted({str(row["seed"]) for row in rows}))
    lines += ["", f"Protocol: {PROTOCOL}.", "", f"Command: `{command}`. Seed {seeds}. Commits: {commits}."]
    return "\n".join([*lines, "", "![Accuracy against sparsity](pruning.png)", ""])


def picture(rows: list[dict[str, Any]]) -> Figure:
    """Accuracy against the weights set to zero, and against the filters removed."""
    drawn = Figure(figsize=(9.0, 4.0), layout="constrained")
    left, right = drawn.subplots(1, 2)
    for name, by in CRITERIA:
        colour, label = COLOURS[name, by], f"{name}, {by}"
        points = picked(rows, "weights", name, by)
        shares = [100 * row["share"] for row in points]
        left.plot(shares, [100 * row["accuracy"] for row in points], color=colour, marker="o", label=label)
        points = picked(rows, "filters", name, by)
        shares = [100 * row["share"] for row in points]
        after = [100 * row["tuned"]["accuracy"] for row in points]
        right.plot(
            shares, [100 * row["accuracy"] for row in points], color=colour, linestyle="--", marker="o"
        )
        right.plot(shares, after, color=colour, marker="s", label=label)
    left.set(title="Weights set to zero", xlabel="zero weights, %", ylabel="test accuracy, %")
    right.set(title="Filters removed", xlabel="removed filters and units, % (solid: after one epoch more)")
    for axes in (left, right):
        axes.set_ylim(0, 101)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, loc="lower left")
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of the models, if they must be trained")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, help="a trial on the first so many; no results are written")
    parser.add_argument("--data", help="the data folder; by default $ASKWISE_DATA")
    options = parser.parse_args()
    torch.set_num_threads(1)
    trial = "" if options.images is None else f"-trial-{options.images}-{options.epochs}"
    path = HERE / ".runs" / f"pruning{trial}" / f"seed{options.seed}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = run(options, path)
    command = f"python benchmarks/pruning.py --seed {options.seed}"
    print(table(rows, command))
    home = RESULTS if options.images is None else path.parent
    facts = {"command": command, "protocol": PROTOCOL, "rows": rows}
    (home / "pruning.json").write_text(json.dumps(facts, indent=1) + "\n")
    (home / "pruning.md").write_text(table(rows, command))
    picture(rows).savefig(home / "pruning.png", dpi=160)


if __name__ == "__main__":
    main()

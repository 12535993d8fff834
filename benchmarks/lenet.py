"""LeNet-5 on all of MNIST: point, MC dropout, Bayes by Backprop and an ensemble beside published numbers.

    ASKWISE_DATA=DIR python benchmarks/lenet.py                       all of them; interrupted, it goes on
    ... --posterior bbb --seed 1                                      one of them
    ... --images 2000 --epochs 1                                      a trial that writes no results

A model is kept in `.runs/lenet/POSTERIOR-seedN/` and its measurements beside it in a .json; what is
there is not done again. results/lenet.{json,md} are written anew from all that is finished.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from provenance import commit
from torch import Tensor
from torchmetrics.functional.classification import multiclass_calibration_error

import askwise as aw
from askwise.math.uncertainty import variances

HERE = Path(__file__).parent.parent
RUNS, RESULTS = HERE / ".runs" / "lenet", HERE / "results"
EPOCHS, BATCH, LR, DRAWS, DROPOUT = 10, 256, 1e-3, 100, 0.2
PROTOCOL = (
    f"LeNet-5 (6 and 16 filters, 400-120-84-10, relu, max-pooling; 28 x 28 images padded to 32 x 32), all 60,000 "
    f"training images without augmentation or validation part, new weights from the seed, Adam {LR:g}, batch {BATCH}, "
    f"no weight decay, no early stopping; mc_dropout: rate {DROPOUT} after both poolings and both hidden layers; bbb: "
    f"every layer Gaussian, biases not, prior N(0, 0.1^2), rho ~ N(-5, 0.1), KL weight 1, flipout in convolutions "
    f"and local noise in dense layers; ensemble: 5 trainings. Measured on the 10,000 test images under the mean of "
    f"{DRAWS} draws (an ensemble: its members): accuracy, NLL, Brier score (sum over classes), ECE (15 bins), and the mean "
    f"variance per class that is aleatoric and epistemic"
)
# uncertainty-baselines' table for LeNet-5 on MNIST, and Shridhar et al. 2019 (validation accuracy).
ANCHORS = {
    "deterministic (uncertainty-baselines)": {"accuracy": 0.991, "nll": 0.037},
    "VI (uncertainty-baselines)": {"accuracy": 0.985, "nll": 0.048, "ece": 0.010},
    "ensemble of 10 (uncertainty-baselines)": {"accuracy": 0.994, "nll": 0.016, "ece": 0.005},
    "point (Shridhar et al., validation)": {"accuracy": 0.98},
    "Bayesian (Shridhar et al., validation)": {"accuracy": 0.98, "aleatoric": 0.0096, "epistemic": 0.0026},
}


@dataclass(frozen=True)
class Entry:
    """A posterior as it is trained here; made when needed, so that a missing one stops nobody."""

    posterior: Callable[[], Any]
    dropout: float = 0.0


ENTRIES = {
    "point": Entry(lambda: aw.point()),
    "mc_dropout": Entry(lambda: aw.mc_dropout(), dropout=DROPOUT),
    "bbb": Entry(lambda: aw.bbb(all=True, prior_std=0.1, rho_mean=-5.0)),
    "ensemble": Entry(lambda: aw.ensemble(5)),
}


@dataclass(frozen=True)
class Case:
    """One model: which posterior, from which seed, how long, on how many images."""

    name: str
    seed: int = 0
    epochs: int = EPOCHS
    images: int | None = None

    @property
    def folder(self) -> Path:
        """Where the model is kept."""
        home = RUNS if self.images is None else RUNS.with_name(f"lenet-trial-{self.images}-{self.epochs}")
        return home / f"{self.name}-seed{self.seed}"

    @property
    def record(self) -> Path:
        """Where it is written how it was made and what it measures."""
        return self.folder.with_name(self.folder.name + ".json")


def mnist(folder: str | None, images: int | None) -> aw.data.Dataset:
    """All of MNIST, or for a trial the first so many images for training and for testing."""
    data = aw.data.load("mnist", data_dir=folder)
    parts = {f"{part}_{key}": slice(images) for part in ("train", "test") for key in ("x", "y", "ids")}
    return replace(data, **{name: getattr(data, name)[rows] for name, rows in parts.items()})


def trained(case: Case, data: aw.data.Dataset) -> aw.Fitted:
    """The model of a case: from disk if it is there as wanted, otherwise trained and saved."""
    known = json.loads(case.record.read_text()) if case.record.exists() else {}
    if (case.folder / "manifest.json").exists() and known.get("epochs", case.epochs) == case.epochs:
        return aw.load(case.folder)
    entry = ENTRIES[case.name]
    start, wall = time.process_time(), time.perf_counter()
    fitted = aw.fit(
        aw.nets.lenet5(size=28, dropout=entry.dropout),
        (data.train_x, data.train_y),
        posterior=entry.posterior(),
        training=aw.Training(epochs=case.epochs, batch_size=BATCH, lr=LR),
        start="scratch",
        seed=case.seed,
    )
    made = {
        "posterior": case.name,
        "seed": case.seed,
        "epochs": case.epochs,
        "images": len(data.train_x),
        "cpu_s": time.process_time() - start,
        "wall_s": time.perf_counter() - wall,
        "last_epoch": fitted.history[-1],
        "commit": commit(),
    }
    case.folder.parent.mkdir(parents=True, exist_ok=True)
    case.record.unlink(missing_ok=True)
    fitted.save(case.folder)
    case.record.write_text(json.dumps(made, indent=1) + "\n")
    return fitted


def quality(fitted: aw.Fitted, x: Tensor, y: Tensor, *, draws: int) -> dict[str, float]:
    """How good the mean prediction is on labelled images, and how uncertain."""
    log_probs = aw.log_probs(fitted, x, draws=draws)
    mean = log_probs.exp().mean(dim=1)
    right = mean.gather(1, y[:, None])[:, 0]
    uncertainty = variances(log_probs)
    return {
        "accuracy": (mean.argmax(1) == y).double().mean().item(),
        "nll": -right.clamp_min(1e-38).log().mean().item(),
        "brier": (mean - torch.nn.functional.one_hot(y, 10)).square().sum(dim=1).mean().item(),
        "ece": multiclass_calibration_error(mean, y, num_classes=10, n_bins=15).item(),
        "aleatoric": uncertainty.aleatoric.mean().item(),
        "epistemic": uncertainty.epistemic.mean().item(),
    }


def measured(case: Case, data: aw.data.Dataset) -> dict[str, Any]:
    """The record of a case with its measurements."""
    fitted = trained(case, data)
    record: dict[str, Any] = json.loads(case.record.read_text()) if case.record.exists() else {}
    if "accuracy" not in record:
        # Only an ensemble says how many networks it is; one without draws needs a single pass.
        draws = {"point": 1, "ensemble": 5}.get(case.name, DRAWS)
        found = quality(fitted, data.test_x, data.test_y, draws=draws)
        record |= {"posterior": case.name, "seed": case.seed, "draws": draws, **found}
        case.record.write_text(json.dumps(record, indent=1) + "\n")
    return record


def table(rows: list[dict[str, Any]]) -> str:
    """All that is finished, ours beside theirs, as Markdown."""
    keys = ("accuracy", "nll", "brier", "ece", "aleatoric", "epistemic")
    lines = [
        "# LeNet-5 on all of MNIST",
        "",
        "| | seed | epochs | accuracy % | NLL | Brier | ECE | aleatoric | epistemic | training, CPU min |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [_cell(key, row.get(key)) for key in keys]
        minutes = f"{row['cpu_s'] / 60:.1f}" if "cpu_s" in row else "–"
        cells = [row["posterior"], str(row["seed"]), str(row.get("epochs", "–")), *cells, minutes]
        lines.append(f"| {' | '.join(cells)} |")
    for name, found in ANCHORS.items():
        cells = [name, "–", "–", *(_cell(key, found.get(key)) for key in keys), "–"]
        lines.append(f"| {' | '.join(cells)} |")
    commits = sorted({str(row.get("commit", "unknown")) for row in rows})
    return "\n".join(
        [
            *lines,
            "",
            f"Protocol: {PROTOCOL}.",
            "",
            f"Command: `python benchmarks/lenet.py`. Commits: {', '.join(commits)}.",
            "",
        ]
    )


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.2f}" if key == "accuracy" else f"{value:.4f}"


def finished() -> list[dict[str, Any]]:
    """The records of all measured models, in the order of the posteriors."""
    found = [json.loads(path.read_text()) for path in RUNS.glob("*-seed*.json")]
    order = list(ENTRIES)
    return sorted(
        (row for row in found if "accuracy" in row), key=lambda r: (order.index(r["posterior"]), r["seed"])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posterior", choices=ENTRIES, help="only this one")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, help="a trial on the first so many; no results are written")
    parser.add_argument("--data", help="the data folder; by default $ASKWISE_DATA")
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = mnist(options.data, options.images)
    for name in [options.posterior] if options.posterior else ENTRIES:
        if name not in aw.__all__:
            print(f"{name}: this askwise has no aw.{name}, so it is left out", flush=True)
            continue
        print(
            json.dumps(measured(Case(name, options.seed, options.epochs, options.images), data)), flush=True
        )
    if options.images is None:
        rows = finished()
        facts = {
            "command": "python benchmarks/lenet.py",
            "protocol": PROTOCOL,
            "anchors": ANCHORS,
            "rows": rows,
        }
        (RESULTS / "lenet.json").write_text(json.dumps(facts, indent=1) + "\n")
        (RESULTS / "lenet.md").write_text(table(rows))
        print(table(rows))


if __name__ == "__main__":
    main()

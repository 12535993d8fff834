"""The eight networks of Zeng et al. 2018: one network, eight placements, 1,000 MNIST labels.

    python benchmarks/placements.py --data DIR          # a folder with mnist/*.gz, or fetched data

Each placement runs in a process of its own and appends a line to results/placements.jsonl; finished
ones are skipped, so the run can be stopped and started again. The table is results/placements.md.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from torchmetrics.functional.classification import multiclass_calibration_error

import askwise as aw
from askwise.engine import Local

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
LABELS, EPOCHS, TEST_DRAWS, SCORED, DRAWS, SEED = 1000, 50, 20, 1000, 100, 0
TIMED_EPOCHS = 3
PROTOCOL = (
    f"Gal's CNN, {LABELS} random training images (seed {SEED}), Adam 1e-3, batch 64, {EPOCHS} epochs from new "
    f"weights, rho ~ N(-3, 0.1), prior N(0, 1), KL weight 1, biases deterministic, dropout off at prediction; "
    f"accuracy, NLL and ECE (15 bins) of the mean of {TEST_DRAWS} draws on the 10,000 test images. Apart from "
    f"that, in CPU seconds of one thread: an epoch, the mean of {TIMED_EPOCHS}, and BALD of {SCORED:,} images "
    f"under {DRAWS} draws; memory: what fitting and scoring add to the peak of the process"
)
RESULTS = Path(__file__).parent.parent / "results"


def fitted_on(name: str, data: aw.data.Dataset, epochs: int) -> tuple[aw.Fitted, torch.Tensor]:
    """A placement trained on the labelled images, and the images to score."""
    chosen = torch.randperm(len(data.train_x), generator=torch.Generator().manual_seed(SEED))
    labelled, pool = chosen[:LABELS], chosen[LABELS : LABELS + SCORED]
    fitted = aw.fit(
        aw.nets.gal_cnn(),
        (data.train_x[labelled], data.train_y[labelled]),
        posterior=PLACEMENTS[name],
        training=aw.Training(epochs=epochs),
        start="scratch",
        seed=SEED,
    )
    return fitted, data.train_x[pool]


def quality(name: str, data: aw.data.Dataset) -> dict[str, object]:
    """How good one placement is."""
    fitted, _ = fitted_on(name, data, EPOCHS)
    mean = aw.predict(fitted, data.test_x, draws=TEST_DRAWS).mean
    right = mean.gather(1, data.test_y[:, None])[:, 0]
    return {
        "accuracy": (mean.argmax(1) == data.test_y).float().mean().item(),
        "nll": -right.log().mean().item(),
        "ece": multiclass_calibration_error(mean, data.test_y, num_classes=10, n_bins=15).item(),
        "parameters": sum(t.numel() for t in fitted.tensors().values()),
        "gaussian_weights": sum(t.numel() for t in fitted.state.values()),
        "last_epoch": fitted.history[-1],
    }


def speed(name: str, data: aw.data.Dataset) -> dict[str, object]:
    """How long one placement takes, in CPU seconds, which other work on the machine hardly changes."""
    before = _peak_mb()
    start = time.process_time()
    fitted, pool = fitted_on(name, data, TIMED_EPOCHS)
    epoch = (time.process_time() - start) / TIMED_EPOCHS
    aw.score_pool(fitted, pool[:1], "bald", draws=DRAWS)  # builds the program
    start = time.process_time()
    aw.score_pool(fitted, pool, "bald", draws=DRAWS, engine=Local(processes=1))  # its time is all ours
    return {
        "epoch_s": epoch,
        "scoring_s": time.process_time() - start,
        "memory_mb": _peak_mb() - before,
        "form": next(iter(fitted.programs.values())).form,
    }


MEASURES = {"quality": quality, "speed": speed}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(rows: list[dict[str, object]]) -> str:
    """The rows as Markdown, in the paper's order."""
    commits = sorted({str(row["commit"])[:12] for row in rows})
    lines = [
        "# The eight placements on 1,000 MNIST labels",
        "",
        f"Command: `python benchmarks/placements.py --data DIR`; commits {', '.join(commits)} (each row of "
        "`placements.jsonl` names its own).",
        "",
        f"Protocol: {PROTOCOL}.",
        "",
        "The quality rows first carried wall-clock times too, taken on a busy machine; those were taken out of "
        "`placements.jsonl` and measured again as CPU seconds (the speed rows).",
        "",
        "| placement | accuracy % | NLL | ECE | parameters | of these Gaussian scales | memory MB | epoch s "
        "| scoring s | suffix |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in PLACEMENTS:
        found = [row for row in rows if row["placement"] == name]
        if {row["measure"] for row in found} == set(MEASURES):
            r = {key: value for row in found for key, value in row.items()}
            lines.append(
                f"| {name} | {100 * r['accuracy']:.2f} | {r['nll']:.3f} | {r['ece']:.3f} | {r['parameters']:,} "
                f"| {r['gaussian_weights']:,} | {r['memory_mb']:.0f} | {r['epoch_s']:.2f} "
                f"| {r['scoring_s']:.2f} | {r['form']} |"
            )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data")
    parser.add_argument("--one", nargs=2, metavar=("MEASURE", "PLACEMENT"), help="print a single line")
    options = parser.parse_args()
    if options.one:
        measure, name = options.one
        torch.set_num_threads(1)
        found = MEASURES[measure](name, aw.data.load("mnist", data_dir=options.data))
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        print(
            json.dumps(
                {"placement": name, "measure": measure, **found, "commit": commit, "torch": torch.__version__}
            )
        )
        return
    path = RESULTS / "placements.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for measure in MEASURES:
        for name in PLACEMENTS:
            if (name, measure) in {(row["placement"], row["measure"]) for row in done}:
                continue
            command = [sys.executable, __file__, "--one", measure, name]
            command += ["--data", options.data] if options.data else []
            line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            done.append(json.loads(line))
            with path.open("a") as file:
                file.write(line + "\n")
            print(line, flush=True)
    (RESULTS / "placements.md").write_text(table(done))


if __name__ == "__main__":
    main()

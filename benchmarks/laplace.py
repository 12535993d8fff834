"""What laplace costs, and whether it predicts as well as its own mode.

    python benchmarks/laplace.py                    # CPU time of a fit, without the training of the network
    python benchmarks/laplace.py --modes            # NLL and ECE beside the mode's own, on digits
    ASKWISE_DATA=DIR python benchmarks/laplace.py --modes --data mnist --seeds 10

Every (data set, seed) trains one point network and appends its rows to results/laplace.jsonl; finished
ones are skipped, so that `--modes` can be stopped and started again. The table is results/laplace.md.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from provenance import commit
from torch import Tensor, nn

import askwise as aw
from askwise.bayes.learning import TrainingJob
from askwise.bayes.posteriors import laplace
from askwise.tasks import classification
from askwise.train import examples

LABELS, EPOCHS, DRAWS, CLASSES = 1000, 50, 100, 10
NETWORKS = {"digits": aw.nets.digits_cnn, "mnist": aw.nets.gal_cnn}
STILL = aw.Training(epochs=1, lr=1e-12)  # the network is trained already
WAYS = {"folds": aw.laplace(), "evidence": aw.laplace(choose="evidence")}
RESULTS = Path(__file__).parent.parent / "results"
LINES = RESULTS / "laplace.jsonl"
PROTOCOL = (
    f"digits_cnn on digits, gal_cnn on MNIST; {LABELS:,} random training items and new weights by the seed, Adam 1e-3, "
    f"batch 64, {EPOCHS} epochs. Of that one point network: its own predictions (point), and for each way to choose the "
    f"precision those of the mode of its last layer and of the mean of {DRAWS} draws, form kron, on all test items; ECE "
    f"with 15 bins. The constants of the default were settled on held-out training items, with other seeds"
)


def cost() -> None:
    """Print CPU milliseconds of a fit by labels and features; the last layer is the whole network."""
    print("labels  features  chosen ms  given ms")
    for features in (128, 1280):
        for labels in (20, 100, 300, 1000):
            x, y = clouds(labels, features)
            network = nn.Sequential(nn.Identity(), nn.Linear(features, CLASSES))
            found = [
                milliseconds(network, x, y, config)
                for config in (aw.laplace(), aw.laplace(prior_precision=1.0))
            ]
            print(f"{labels:6d}  {features:8d}  {found[0]:9.0f}  {found[1]:8.0f}", flush=True)


def clouds(labels: int, features: int) -> tuple[Tensor, Tensor]:
    """Overlapping classes in features of falling scale, as encoders have them."""
    rng = torch.Generator().manual_seed(0)
    scale = torch.arange(1, features + 1).float().pow(-0.5)
    means = torch.randn(CLASSES, features, generator=rng)
    y = torch.arange(labels) % CLASSES
    return (means[y] + 2 * torch.randn(labels, features, generator=rng)) * scale, y


def milliseconds(network: nn.Module, x: Tensor, y: Tensor, config: Any, *, times: int = 3) -> float:
    """CPU time of the best of some fits, minus that of the point network's training."""
    job = TrainingJob(examples((x, y)), classification(), STILL, 0, torch.device("cpu"))
    best = {}
    for _ in range(times):
        for file, how in ((laplace, config), (laplace.point, aw.point())):
            start = time.process_time()
            file.fit(network, how, job)
            spent = time.process_time() - start
            best[file] = min(best.get(file, spent), spent)
    return 1e3 * (best[laplace] - best[laplace.point])


def rows(name: str, seed: int, code: str) -> list[dict[str, Any]]:
    """Point network, mode and draws of every way to choose, measured on the test items."""
    data = aw.data.load(name)
    chosen = torch.randperm(len(data.train_x), generator=torch.Generator().manual_seed(seed))[:LABELS]
    labelled = data.train_x[chosen], data.train_y[chosen]
    point = aw.fit(
        NETWORKS[name](),
        labelled,
        posterior=aw.point(),
        training=aw.Training(epochs=EPOCHS),
        start="scratch",
        seed=seed,
    )

    def tested(who: str, way: str, fitted: aw.Fitted) -> dict[str, Any]:
        found = aw.evaluate(fitted, (data.test_x, data.test_y), draws=DRAWS, seed=seed)
        kept = {key: float(found[key]) for key in ("accuracy", "nll", "ece")}
        widths = {
            key.rpartition(".")[2]: value.item() for key, value in fitted.state.items() if value.ndim == 0
        }
        return {"data": name, "seed": seed, "who": who, "way": way, **kept, **widths}

    found = [tested("point", "", point)]
    for way, config in WAYS.items():
        fitted = aw.fit(point.network, labelled, posterior=config, training=STILL, seed=seed)
        mode = aw.Fitted(fitted.network, aw.point(), fitted.task, {}, fitted.history)
        found += [tested("mode", way, mode), tested("draws", way, fitted)]
    return [{**row, "commit": code} for row in found]


def table(lines: list[dict[str, Any]]) -> str:
    """Means over the seeds as Markdown, and how often a seed keeps the promise."""
    commits = sorted({row["commit"][:12] + ("-dirty" * row["commit"].endswith("-dirty")) for row in lines})
    text = [
        "# laplace beside its own mode",
        "",
        f"Command: `python benchmarks/laplace.py --modes --data NAME --seeds N`; commits {', '.join(commits)}.",
        "",
        f"Protocol: {PROTOCOL}.",
        "",
        "NLL ratio: mean NLL of the draws over that of their mode (the promise is at most 1.05), and its largest over "
        "the seeds.",
        "",
        "| data | n | chosen by | accuracy % | NLL point | NLL mode | NLL draws | NLL ratio | largest | ECE point | ECE mode | ECE draws |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in NETWORKS:
        own = [row for row in lines if row["data"] == name]
        if not own:
            continue
        point = [row for row in own if row["who"] == "point"]
        for way in WAYS:
            by = {
                w: {r["seed"]: r for r in own if (r["who"], r["way"]) == (w, way)} for w in ("mode", "draws")
            }
            mean = {
                (w, key): statistics.mean(r[key] for r in by[w].values())
                for w in by
                for key in ("nll", "ece", "accuracy")
            }
            largest = max(by["draws"][seed]["nll"] / by["mode"][seed]["nll"] for seed in by["mode"])
            nll, ece = (statistics.mean(r[key] for r in point) for key in ("nll", "ece"))
            text.append(
                f"| {name} | {len(by['mode'])} | {way} | {100 * mean['draws', 'accuracy']:.2f} | {nll:.4f} "
                f"| {mean['mode', 'nll']:.4f} | {mean['draws', 'nll']:.4f} "
                f"| {mean['draws', 'nll'] / mean['mode', 'nll']:.3f} | {largest:.3f} | {ece:.4f} "
                f"| {mean['mode', 'ece']:.4f} | {mean['draws', 'ece']:.4f} |"
            )
    return "\n".join([*text, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", action="store_true")
    parser.add_argument("--data", choices=NETWORKS, default="digits")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.modes:
        cost()
        return
    code = commit()  # of what runs now: the first rows change the tree
    lines = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    for seed in range(options.seeds):
        if (options.data, seed) in {(row["data"], row["seed"]) for row in lines}:
            continue
        new = rows(options.data, seed, code)
        with LINES.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in new)
        lines += new
    (RESULTS / "laplace.md").write_text(table(lines))
    print(table(lines))


if __name__ == "__main__":
    main()

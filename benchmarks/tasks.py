"""The loop for tags, numbers and masks: one real run of each task, against asking at random."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jobs import tables
from jobs.experiment import Experiment, Key, Row, options, plain
from jobs.tables import Measure
from matplotlib.figure import Figure

import askwise as aw
from askwise.bayes.posteriors import as_posterior
from askwise.loop.score import subset
from askwise.report.curves import area
from askwise.seeding import derive
from askwise.train import as_training

ROOT = Path(__file__).parent.parent
POOL, TEST, TOKENS = 4_000, 1_500, 48  # comments of GoEmotions, and where they are cut
RUNS: dict[str, dict[str, Any]] = {
    "goemotions": {
        "task": {"name": "multilabel"},
        "posterior": {"name": "vogn"},
        "initial": 100,
        "batch": 100,
        "budget": 600,
        "draws": 20,
    },
    "energy": {
        "task": {"name": "regression"},
        "posterior": {"name": "laplace"},
        "training": {"epochs": 50, "min_steps": 500, "lr": 1e-2, "batch_size": 32},
        "initial": 20,
        "batch": 20,
        "budget": 160,
        "draws": 100,
    },
    "camvid": {
        "posterior": {"name": "mc_dropout"},
        "training": {"epochs": 25, "batch_size": 4, "augment": "flip"},
        "initial": 30,
        "batch": 30,
        "budget": 120,
        "draws": 10,
    },
}
RUNS["concrete"] = RUNS["energy"]
METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "goemotions": {
        "random": {"acquire": "random"},
        "max_entropy": {"acquire": "max_entropy"},
        "top_u": {"acquire": "top_u"},
    },
    "energy": {
        "random": {"acquire": "random"},
        "gaussian_bald": {"acquire": "gaussian_bald"},
        "gaussian_batchbald": {"select": "gaussian_batchbald"},
        "lcmd": {"select": "lcmd"},
    },
    "camvid": {"random": {"acquire": "random"}, "bald": {"acquire": "bald"}},
}
METHODS["concrete"] = METHODS["energy"]
SEEDS = {"goemotions": 10, "energy": 10, "concrete": 10, "camvid": 1}
SHRINK, WIDTH = 4, 16  # of CamVid's 240 x 180 pictures, and of the network
KEPT = {
    "goemotions": ("top_1", "top_5", "recall_micro", "f1_micro", "f1_macro", "nll"),
    "energy": ("rmse", "log_likelihood"),
    "concrete": ("rmse", "log_likelihood"),
    "camvid": ("mean_iou", "class_accuracy", "accuracy"),
}
MEASURES = {
    "top_1": Measure(key="top_1", title="top-1, %", write="{:.2f}", factor=100, high=True),
    "top_5": Measure(key="top_5", title="top-5, %", write="{:.2f}", factor=100, high=True),
    "recall_micro": Measure(key="recall_micro", title="recall, %", write="{:.2f}", factor=100, high=True),
    "rmse": Measure(key="rmse", title="RMSE", write="{:.3f}"),
    "log_likelihood": Measure(key="log_likelihood", title="log-likelihood", write="{:.3f}", high=True),
    "mean_iou": Measure(key="mean_iou", title="mean IoU, %", write="{:.2f}", factor=100, high=True),
}
ABOUT = {
    "goemotions": (
        f"## Tags: GoEmotions under frozen MiniLM\n\n{POOL:,} training comments are the pool, {TEST:,} test comments "
        "measure, both drawn once by their ids and the same for all seeds; 28 tags. The encoder (all-MiniLM-L6-v2, 384 "
        f"features, {TOKENS} tokens at most) is frozen; the head is one dense layer learned by VOGN with the defaults of the library, new weights "
        "every round. top_u is the entropy of the draws' votes for the best tag (u = 1), max_entropy the mean entropy "
        "over the tags. A tag is predicted above one half, so that recall is low while labels are few."
    ),
    "energy": (
        "## Numbers: energy (UCI) as a pool\n\nThe seed is the number of Gal's split: its training part is the pool, its "
        "test part measures. Inputs in deviations from the pool's mean; targets standardised inside the fit, measures in "
        "the units of the data. One hidden layer of 50, learned noise, last-layer Laplace; Adam .01 and batches of 32, else the defaults of the library. "
        "gaussian_bald asks the highest scores, gaussian_batchbald the batch of the largest log-determinant, lcmd the "
        "farthest item of the largest cluster of last-layer features."
    ),
    "concrete": "## Numbers: concrete (UCI) as a pool\n\nAs above.",
    "camvid": (
        f"## Masks: CamVid, three rounds\n\nSegNet-Basic with {WIDTH} filters at {240 // SHRINK} x {180 // SHRINK} pixels "
        "and 25 epochs a round: what two cores can train, far from the paper's network and size. 367 training images "
        "are the pool, the 233 test images measure. MC dropout, mean BALD over the pixels against random. One seed: "
        "nothing can be concluded from the difference."
    ),
}


@cache
def emotions() -> tuple[Any, torch.Tensor, dict[str, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """Ids and features of the pool, its labels, and the test part; every comment is encoded once."""
    data, encoder = aw.data.load("goemotions"), aw.encoders.load("minilm")

    def part(texts: Any, ids: Sequence[str], labels: torch.Tensor, count: int, name: str) -> Any:
        place = {identity: at for at, identity in enumerate(ids)}
        chosen = subset(ids, count, seed=derive(0, "tasks", name))
        tokens = encoder.module.tokens([texts[place[identity]] for identity in chosen], length=TOKENS)
        pool = aw.pool.arrays(tokens, ids=chosen)
        found = aw.pool.features(pool, encoder.module, cache=ROOT / ".runs" / "minilm").read(list(chosen))
        return chosen, found.inputs, labels[[place[identity] for identity in chosen]]

    ids, rows, labels = part(data.train_x, data.train_ids, data.train_y, POOL, "pool")
    _, test_x, test_y = part(data.test_x, data.test_ids, data.test_y, TEST, "test")
    return ids, rows, dict(zip(ids, labels, strict=True)), (test_x, test_y)


def parts(data: str, seed: int) -> dict[str, Any]:
    """The network, the pool, the truth and the test part of a run."""
    if data == "goemotions":
        ids, rows, truth, test = emotions()
        names = aw.data.load("goemotions").classes
        network = aw.nets.linear(rows.shape[1], len(names))
        return {
            "network": network,
            "pool": aw.pool.arrays(rows, ids=ids),
            "truth": truth,
            "test": test,
            "tags": names,
        }
    if data == "camvid":
        found = aw.data.load("camvid", shrink=SHRINK)
        return {
            "network": aw.nets.segnet_basic(classes=len(found.classes), width=WIDTH),
            "pool": aw.pool.arrays(found.train_x, ids=found.train_ids),
            "truth": dict(zip(found.train_ids, found.train_y, strict=True)),
            "test": (found.test_x, found.test_y),
            "classes": found.classes,
            "task": aw.tasks.segmentation(ignore=found.ignore),
        }
    found = aw.data.load(f"uci/{data}", split=seed)
    mean, spread = found.train_x.mean(dim=0), found.train_x.std(dim=0).clamp_min(1e-6)
    return {
        "network": aw.nets.homoscedastic(aw.nets.mlp(found.train_x.shape[1], 1, hidden=(50,))),
        "pool": aw.pool.arrays((found.train_x - mean) / spread, ids=found.train_ids),
        "truth": dict(zip(found.train_ids, found.train_y, strict=True)),
        "test": ((found.test_x - mean) / spread, found.test_y),
    }


def run(key: Key, scratch: Path) -> dict[str, Any]:
    """Labels and measures after every round."""
    data, seed = str(key["data"]), int(key["seed"])
    own = parts(data, seed)
    truth = own.pop("truth")
    choices = RUNS[data] | METHODS[data][str(key["method"])] | own
    # the same items first for every method: some selections would begin without a model otherwise
    choices["initial"] = subset(
        choices["pool"].ids, choices["initial"], seed=derive(seed, "tasks", "initial")
    )
    engine = {"engine_options": {"processes": 1}}
    with aw.Learner(choices.pop("network"), store=scratch / "run.db", seed=seed, **engine, **choices) as ours:
        ours.run(oracle=truth)
        rounds = [(one.labels, one.metrics["test"]) for one in ours.rounds()]
    return {
        "labels": [labels for labels, _ in rounds],
        **{name: [found[name] for _, found in rounds] for name in KEPT[data]},
        **({"iou": rounds[-1][1]["iou"]} if data == "camvid" else {}),
    }


def settings(key: Key) -> dict[str, Any]:
    """All that decides a job beside its key."""
    data = str(key["data"])
    own: Mapping[str, Any] = RUNS[data]
    sizes = {
        "goemotions": {"pool": POOL, "test": TEST, "tokens": TOKENS},
        "camvid": {"shrink": SHRINK, "width": WIDTH},
    }
    return plain(
        {
            **own,
            **METHODS[data][str(key["method"])],
            "posterior": options(as_posterior(own["posterior"])),
            "training": options(as_training(own.get("training", {}))),
            "sizes": sizes.get(data, {"hidden": 50}),
            "first": "random ids, the same for all methods",
        }
    )


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/tasks.md and tasks.png."""
    lines = ["# The loop for tags, numbers and masks", "", tables.ABOUT.format(units="seeds"), ""]
    for data, about in ABOUT.items():
        own = [row for row in rows if row["data"] == data]
        if not own:
            continue
        plan = RUNS[data]
        lines += [about, ""]
        lines += [
            f"{plan['initial']} random labels first, the same for all methods, then {plan['batch']} a round to {plan['budget']}; {plan['draws']} draws. "
            "Mean over the curve from its first number of labels to the budget, and at the end.",
            "",
        ]
        for name in [name for name in KEPT[data] if name in MEASURES]:
            measure = MEASURES[name]
            for at, values in (
                ("over the curve", tables.of(own, lambda row, name=name: _area(row, name), by="method")),
                ("at the end", tables.of(own, lambda row, name=name: row[name][-1], by="method")),
            ):
                shown = Measure(
                    key=name,
                    title=f"{measure.title}, {at}",
                    write=measure.write,
                    factor=measure.factor,
                    high=measure.high,
                )
                lines += tables.differences(values, shown, baseline="random")
        if data == "camvid":
            lines += [*_classes(own), ""]
    lines += [*tables.footer(rows), "![curves](tasks.png)", ""]
    tables.save(folder / "tasks.md", lines)
    _picture(rows, folder / "tasks.png")


def _area(row: Row, name: str) -> float:
    return area(row["labels"], row[name], budget=row["labels"][-1])


def _classes(rows: Sequence[Row]) -> list[str]:
    names = aw.data.catalogue.STORED["camvid"].classes
    lines = [f"| IoU at the end, % | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for row in rows:
        cells = ["–" if value is None else f"{100 * value:.1f}" for value in row["iou"]]
        lines.append(f"| {row['method']}, seed {row['seed']} | {' | '.join(cells)} |")
    return lines


def _picture(rows: Sequence[Row], path: Path) -> None:
    drawn = Figure(figsize=(3.6 * len(ABOUT), 3.4), layout="constrained")
    for axes, data in zip(drawn.subplots(1, len(ABOUT)), ABOUT, strict=True):
        measure = MEASURES[KEPT[data][0]]
        for method in METHODS[data]:
            own = [row for row in rows if (row["data"], row["method"]) == (data, method)]
            if not own:
                continue
            values = measure.factor * torch.tensor([row[measure.key] for row in own])
            labels = own[0]["labels"]
            style = {"linestyle": "--", "color": "grey"} if method == "random" else {"marker": "."}
            axes.plot(labels, values.mean(dim=0), label=f"{method} (n = {len(own)})", **style)
            if len(own) > 1:
                error = values.std(dim=0) / len(own) ** 0.5
                low, high = values.mean(dim=0) - error, values.mean(dim=0) + error
                axes.fill_between(
                    labels, low, high, alpha=0.15, linewidth=0, color=axes.lines[-1].get_color()
                )
        axes.set(title=data, xlabel="labels", ylabel=measure.title)
        if axes.lines:
            axes.legend(frameon=False, fontsize=7)
        axes.grid(axis="y", alpha=0.3)
    drawn.savefig(path, dpi=110)


@cache
def ready() -> None:
    """Refuses where data or the encoder are missing."""
    aw.data.load("goemotions")
    aw.encoders.load("minilm")
    aw.data.uci("energy")
    aw.data.uci("concrete")


EXPERIMENT = Experiment(
    name="tasks",
    about="the loop for tags (GoEmotions), numbers (energy, concrete) and masks (CamVid)",
    jobs=[
        {"data": data, "method": method, "seed": seed}
        for seed in range(max(SEEDS.values()))
        for data in ("energy", "goemotions", "concrete", "camvid")
        if seed < SEEDS[data]
        for method in METHODS[data]
    ],
    settings=settings,
    run=run,
    tables=write,
    seconds=60,
    ready=ready,
)

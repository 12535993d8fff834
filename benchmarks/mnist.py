"""MNIST to 200 labels: Gal's CNN with MC dropout and with a Bayesian last layer, beside the paper."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jobs import curves, tables
from jobs.experiment import Experiment, Key, Row

import askwise as aw
from askwise.demo import Protocol

SEEDS = range(3)
METHODS = ("random", "bald", "variation_ratios")
BASELINE = "random"
PAPER = {"random": 255, "bald": 145, "variation_ratios": 120}  # Gal et al. 2017: acquired after the first 100


@dataclass(frozen=True, kw_only=True)
class Mnist(Protocol):
    """Gal's network and rounds; as in the authors' code, each round scores 2,000 fresh pool items."""

    data: str = "mnist"
    network: str = "gal_cnn"
    posterior: dict = field(default_factory=dict)
    training: dict = field(default_factory=lambda: {"epochs": 50, "batch_size": 64, "lr": 1e-3})
    initial: int = 20
    batch: int = 10
    budget: int = 200
    draws: int = 100
    pool_subset: int = 2000


PROTOCOLS = {
    "mc_dropout": Mnist(posterior={"name": "mc_dropout"}),
    "BNN-1": Mnist(posterior={"name": "bbb", "last": 1}),
}
ABOUT = (
    "New weights every round; 20 random initial labels, 10 more each round; accuracy of the mean of 100 draws on the "
    "10,000 test images; no validation labels, no weight decay. Gal et al. 2017 report "
    + ", ".join(f"{count} ({name})" for name, count in PAPER.items())
    + " images to 10 % error with MC dropout, acquired after 100 initial ones, all of the pool scored, weight decay chosen "
    "on 100 validation points."
)


def run(key: Key, scratch: Path) -> dict[str, object]:
    """The curve of one posterior, method and seed."""
    protocol = PROTOCOLS[str(key["posterior"])]
    return curves.run(protocol, str(key["method"]), int(key["seed"]), scratch)


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/mnist.md and .png."""
    lines = ["# MNIST to 200 labels", "", ABOUT, "", tables.ABOUT.format(units="seeds"), ""]
    groups: dict[str, Sequence[Row]] = {}
    for name, protocol in PROTOCOLS.items():
        own = [row for row in rows if row["posterior"] == name]
        if own:
            lines += [f"## {name}", "", *curves.areas(own, budget=protocol.budget, baseline=BASELINE)]
            lines += [curves.TARGET_NOTE, "", *curves.costs(own, budget=protocol.budget)]
        for method in METHODS:
            if mine := [row for row in own if row["method"] == method]:
                groups[f"{method}, {name}"] = mine
    tables.save(folder / "mnist.md", [*lines, *tables.footer(rows), "![Learning curves](mnist.png)", ""])
    curves.picture(groups, folder / "mnist.png", title="MNIST to 200 labels: mean and range over the seeds")


EXPERIMENT = Experiment(
    name="mnist",
    about="learning curves to 200 labels, 3 seeds (the papers' issue has more)",
    jobs=[
        {"posterior": posterior, "method": method, "seed": seed}
        for seed in SEEDS
        for posterior in PROTOCOLS
        for method in METHODS
    ],
    settings=lambda key: curves.settings(PROTOCOLS[str(key["posterior"])]),
    run=run,
    tables=write,
    seconds=900,
    ready=lambda: aw.data.load("mnist"),
)

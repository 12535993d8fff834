"""CIFAR-10: train, choose, continue training."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from askwise import nets
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.engine import open_engine
from askwise.papers import rounds
from askwise.papers.curves import area_column, area_of, last_column
from askwise.papers.images import images, normalised
from askwise.papers.loustau2023.methods import DRAWS, METHODS, asking, better, gain
from askwise.papers.record import Claim, Entry, Line, Picture, Place, Table
from askwise.train import Training


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Test accuracy after every round; the network goes on from its weights."""
    x, y, test_x, test_y = images("cifar10", place.data_dir, settings["pool"], settings["test"])
    x, test_x = normalised(x, test_x)
    engine = open_engine("local", processes=1)

    def learned(told: Tensor, own: int, last: Fitted | None) -> Fitted:
        return fit(
            nets.build("lenet5", channels=3, size=32),
            (x[told], y[told]),
            posterior=as_posterior(settings["posterior"]),
            training=Training(**settings["training"]),
            start=last or "scratch",
            seed=own,
        )

    def measured(fitted: Fitted, own: int) -> dict[str, float]:
        told = evaluate(fitted, (test_x, test_y), draws=DRAWS, seed=own, engine=engine)
        return {"accuracy": told["accuracy"], "nll": told["nll"]}

    return rounds.learn(x, fit=learned, measure=measured, seed=seed, draws=DRAWS, **asking(settings))


def entry(name: str, *, quick: bool) -> Entry:
    """One way to choose the next photos."""
    posterior = dict(METHODS[name]["posterior"])
    if posterior["name"] == "vogn":
        posterior["prior_std"] = 0.05
    settings = {
        "quick": quick,
        **METHODS[name],
        "posterior": posterior,
        "pool": 1000 if quick else 20000,
        "test": 300 if quick else 5000,
        "first": 200 if quick else 2000,
        "batch": 200 if quick else 1000,
        "budget": 600 if quick else 8000,
        "training": {"epochs": 40, "batch_size": 64, "lr": 3e-3},
        "options": {"u": 1} if METHODS[name]["acquire"] == "top_u" else {},
    }
    return Entry(name=f"CIFAR-10, {name}", settings=settings, run=run, seconds=15 if quick else 3000)


def table_1(quick: bool) -> Table:
    """Photos."""
    pictures = [
        Picture(
            name="1",
            title="CIFAR-10, trained on after each choice",
            entries={name: entry(name, quick=quick).name for name in METHODS},
        )
    ]
    return Table(
        key="1",
        title="CIFAR-10: train, choose, continue training",
        source="The thesis shows the way; numbers for this comparison are not in our sources.",
        protocol=(
            "Quick protocol: a pool of 1,000, 300 test images, 200 + 200 to 600 labels. "
            if quick
            else "A pool of 20,000, 5,000 test images, 2,000 + 1,000 to 8,000 labels. "
        )
        + f"Inputs normalised by the pool; LeNet-5, 40 epochs a round; {DRAWS} draws of VOGN over all layers "
        "(tempered; prior_std .05, chosen on 500 training images held out: under the default of .1 so few "
        "labels leave this network at its prior), or a point network; the weights of the last round are "
        "kept; top-u with u = 1; difference: the gap between the two best classes.",
        heads=("method",),
        lines=[Line(words=(name,), entry=entry(name, quick=quick)) for name in METHODS],
        columns=(last_column(), area_column()),
        pictures=pictures,
    )


def claim(other: str, *, quick: bool) -> Claim:
    """That top-u beats another way to choose photos."""
    measure = area_of(factor=100.0)
    pair = gain(
        lambda name: entry(name, quick=quick).name, other, measure=measure, words="CIFAR-10, area in points"
    )
    return better("photos", other, "1", [pair])

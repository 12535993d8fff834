"""NIN and DSN on CIFAR-10: standard dropout against MC dropout."""

from collections.abc import Mapping
from typing import Any

from askwise import nets
from askwise.bayes.fit import fit
from askwise.bayes.posteriors import as_posterior
from askwise.papers.alvarez.dropout import MC, both_ways, less
from askwise.papers.curves import Number
from askwise.papers.images import images
from askwise.papers.record import Claim, Entry, Line, Place, Table
from askwise.seeding import derive
from askwise.train import Training

THEIRS = {"NIN": ("10.43", "10.27"), "DSN": ("9.37", "9.32"), "DSN, augmented": ("7.95", "7.71")}


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Test error of one training by standard dropout and by MC dropout."""
    x, y, test_x, test_y = images("cifar10", place.data_dir, settings["train"], settings["test"])
    fitted = fit(
        nets.build(settings["network"]),
        (x, y),
        posterior=as_posterior(MC),
        training=Training(**settings["training"]),
        start="scratch",
        seed=derive(seed, "papers", "fit"),
    )
    told = both_ways(fitted, (test_x, test_y), draws=settings["draws"], seed=seed)
    return {f"error_{kind}": 1 - found["accuracy"] for kind, found in told.items()}


def entry(name: str, *, quick: bool) -> Entry:
    """One network, with or without augmentation."""
    training: dict[str, Any] = {"epochs": 10 if quick else 30, "batch_size": 32 if quick else 128, "lr": 1e-3}
    if "augmented" in name:
        training["augment"] = ["flip", "shift"]
    return Entry(
        name=f"CIFAR-10, {name}",
        settings={
            "quick": quick,
            "network": name.split(",")[0].lower(),
            "train": 1000 if quick else 50000,
            "test": 500 if quick else 10000,
            "training": training,
            "draws": 20 if quick else 50,
        },
        run=run,
        seconds=90 if quick else 60 * 3600,
    )


def table_2(quick: bool) -> Table:
    """NIN and DSN."""
    return Table(
        key="2",
        title="CIFAR-10: standard dropout against MC dropout",
        source="Test error in %, after Gal and Ghahramani 2015: NIN 10.43 / 10.27 +- .05, DSN 9.37 / 9.32 +- "
        ".02, augmented DSN 7.95 / 7.71 +- .09.",
        protocol=(
            "Quick protocol, not comparable with theirs: the first 1,000 images, ten epochs of 32 at a time, "
            "500 test images, 20 draws. "
            if quick
            else "A subset of the authors' epochs (30), all images, 50 draws. "
        )
        + "Adam 1e-3; one training, predicted both ways.",
        heads=("network",),
        lines=[
            Line(
                words=(name,),
                entry=entry(name, quick=quick),
                theirs={"error_off": standard, "error_mc": mc},
            )
            for name, (standard, mc) in THEIRS.items()
        ],
        columns=(
            Number("error_off", "error, standard, %", factor=100.0, theirs=True).column,
            Number("error_mc", "error, MC dropout, %", factor=100.0, theirs=True).column,
        ),
    )


def claims(quick: bool) -> list[Claim]:
    """What is said of CIFAR-10."""
    return [
        Claim(
            sentence="MC dropout has a lower error than standard dropout on CIFAR-10 (NIN, DSN, augmented "
            "DSN).",
            table="2",
            pairs=[
                less(
                    "error_mc",
                    "error_off",
                    entry(name, quick=quick).name,
                    f"{name}: MC minus standard, error in points",
                )
                for name in THEIRS
            ],
        )
    ]

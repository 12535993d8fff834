"""Kirsch, van Amersfoort and Gal 2019, BatchBALD (NeurIPS; arXiv 1906.08158)."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

from askwise.papers.curves import area_column, area_of, labels_column, last_column, run_on
from askwise.papers.images import image_set
from askwise.papers.record import Claim, Entry, Line, Pair, Paper, Picture, Place, Table
from askwise.pool import arrays
from askwise.runs.material import Material
from askwise.seeding import generator

METHODS: Mapping[str, Mapping[str, Any]] = {
    "BatchBALD": {"acquire": "bald", "select": "batchbald"},
    "BALD": {"acquire": "bald"},
    "random": {"acquire": "random"},
}
# Medians of their logs: labels in all at first 90 % / 95 %, without the validation points.
THEIRS: Mapping[tuple[str, str, int], tuple[str, str]] = {
    ("MNIST", "BatchBALD", 5): ("95", "195"),
    ("MNIST", "BatchBALD", 10): ("105", "225"),
    ("MNIST", "BatchBALD", 40): ("140", "300"),
    ("MNIST", "BALD", 1): ("99", "217"),
    ("MNIST", "BALD", 10): ("140; 155", "240; > 260"),
    ("MNIST", "random", 10): ("–", "–"),
    ("repeated MNIST", "BatchBALD", 10): ("135", "270"),
    ("repeated MNIST", "BALD", 10): ("mostly never", "–"),
    ("repeated MNIST", "random", 10): ("203", "–"),
}
REPEATS, NOISE = 3, 0.1


@cache
def pool_of(name: str, data_dir: Path | None, repeats: int) -> Material:
    """The items, normalised as in their code; repeated ones have noise of their own."""
    data, x, test = image_set(name, data_dir)
    mean, std = (0.1307, 0.3081) if name == "mnist" else (float(x.mean()), float(x.std()))
    x, test = (x - mean) / std, (test - mean) / std
    labels = [data.classes[label] for label in data.train_y.tolist()]
    if repeats > 1:
        rng = generator(0, "papers", "repeated")
        x = torch.cat([x + NOISE * torch.randn(x.shape, generator=rng) for _ in range(repeats)])
        labels = labels * repeats
    ids = tuple(f"{one}-{turn}" for turn in range(repeats) for one in data.train_ids)
    named = [data.classes[label] for label in data.test_y.tolist()]
    return Material(arrays(x, ids=ids), dict(zip(ids, labels, strict=True)), (test, named))


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """A learning curve on items that come once or several times."""
    return run_on(settings, seed, place, pool_of(settings["data"], place.data_dir, settings["repeats"]))


def entry(items: str, method: str, batch: int, *, quick: bool) -> Entry:
    """One method with so many labels a round."""
    length = {"epochs": 4, "min_steps": 100} if quick else {"epochs": 30, "min_steps": 2370}
    early = {"patience": 3, "watch": "accuracy"}
    training = {**length, "batch_size": 64, "lr": 3e-3 if quick else 1e-3, **early}
    plan = {
        "classes": list("0123456789"),
        "posterior": {"name": "mc_dropout"},
        "network": "digits_cnn" if quick else "batchbald_cnn",
        **METHODS[method],
        "initial": {"per_class": 2},
        "batch": batch,
        "budget": 60 if quick else 300,
        "training": training,
        "validation": {"count": 100 if quick else 1024},
        "draws": 100,
    }
    repeats = REPEATS if items.startswith("repeated") else 1
    rounds = 1 + (plan["budget"] - 20) // batch
    return Entry(
        name=f"{items}, {method}, b = {batch}",
        settings={"quick": quick, "data": "digits" if quick else "mnist", "repeats": repeats, "plan": plan},
        run=run,
        seconds=rounds * (1.0 if quick else 65.0),
    )


def tables(quick: bool) -> Sequence[Table]:
    """Labels to 90 % and 95 %."""
    pictures = [
        Picture(
            name=f"1_{items.replace(' ', '_').lower()}",
            title=f"{items.replace('MNIST', 'digits') if quick else items}, 10 a round",
            entries={method: entry(items, method, 10, quick=quick).name for method in METHODS},
        )
        for items in ("MNIST", "repeated MNIST")
    ]
    return (
        Table(
            key="1",
            title="labels to 90 % and 95 %, MNIST and repeated MNIST",
            source="Table 1 and the authors' logs: medians of 6 to 12 runs, the 20 first labels included, "
            "the 1,024 validation points not. The paper itself prints about 90 and 200 for BatchBALD, b = "
            "10.",
            protocol=(
                "Quick protocol, not comparable with theirs number by number: the 8 x 8 digits of "
                "scikit-learn instead of MNIST, digits_cnn, 100 steps at 3e-3, 60 labels and 100 for "
                "validation, 100 draws. "
                if quick
                else "MNIST, their network, Adam 1e-3, batch 64, at most 30 epochs of 79 steps, 300 labels "
                "and 1,024 for validation, 100 draws, the whole pool scored. "
            )
            + "Inputs normalised; 20 balanced labels; new weights each round; early stopping on validation "
            "accuracy (patience 3, dropout off, best weights restored); consistent masks. Repeated: "
            f"{REPEATS} copies with noise of deviation {NOISE:g}. Ours count the validation labels in every "
            "total, theirs do not.",
            heads=("items", "method", "b"),
            lines=[
                Line(
                    words=(items, method, str(batch)),
                    entry=entry(items, method, batch, quick=quick),
                    theirs={"to_90": cells[0], "to_95": cells[1]},
                )
                for (items, method, batch), cells in THEIRS.items()
            ],
            columns=(labels_column(0.90), labels_column(0.95), last_column(), area_column()),
            pictures=pictures,
        ),
    )


def claims(quick: bool) -> Sequence[Claim]:
    """What the paper says, decided by the area under the curve at ten labels a round."""
    area = area_of(factor=100.0)

    def pair(items: str, ours: str, other: str) -> Pair:
        one, two = (entry(items, method, 10, quick=quick).name for method in (ours, other))
        words = f"{items}: {ours} minus {other}, area in points"
        return Pair(ours=one, baseline=two, measure=area, expected="higher", words=words)

    return [
        Claim(
            sentence=f"BatchBALD needs fewer labels than BALD with ten a round ({items}).",
            table="1",
            pairs=[pair(items, "BatchBALD", "BALD")],
        )
        for items in ("MNIST", "repeated MNIST")
    ] + [
        Claim(
            sentence="BatchBALD needs fewer labels than random choice (MNIST).",
            table="1",
            pairs=[pair("MNIST", "BatchBALD", "random")],
        ),
        Claim(
            sentence="BALD needs more labels than random choice on repeated MNIST.",
            table="1",
            pairs=[pair("repeated MNIST", "random", "BALD")],
        ),
    ]


PAPER = Paper(
    name="kirsch2019",
    title="Kirsch, van Amersfoort, Gal 2019: BatchBALD",
    cited="A. Kirsch, J. van Amersfoort, Y. Gal. BatchBALD: Efficient and Diverse Batch Acquisition for Deep "
    "Bayesian Active Learning. NeurIPS 2019, arXiv:1906.08158.",
    tables=tables,
    claims=claims,
    needs=("mnist",),
    priority=[
        *((entry("MNIST", method, 10, quick=False).name, range(3)) for method in METHODS),
        *((entry("repeated MNIST", method, 10, quick=False).name, range(3)) for method in METHODS),
    ],
)

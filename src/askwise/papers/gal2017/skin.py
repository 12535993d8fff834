"""Gal et al. 2017: skin lesions, AUC against labels."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from askwise import nets
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.bayes.predict import predict
from askwise.data import load
from askwise.encoders import load as load_encoder
from askwise.errors import InputError
from askwise.papers import rounds
from askwise.papers.curves import (
    area_column,
    area_of,
    last_column,
)
from askwise.papers.record import Claim, Entry, Line, Pair, Picture, Place, Table
from askwise.train import Training


@cache
def lesions(data_dir: Path | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Features and labels (malignant is 1) of the images that learn and those that test."""
    data = load("isic2016", data_dir=data_dir)
    encoder = load_encoder("lite0")
    if encoder is None or not isinstance(data.train_x, Tensor) or not isinstance(data.test_x, Tensor):
        raise InputError("isic2016 needs images and the encoder lite0")
    parts = []
    with torch.no_grad():
        for x in (data.train_x, data.test_x):
            parts.append(torch.cat([encoder.module(part) for part in torch.split(_read(x, encoder), 50)]))
    return parts[0], data.train_y, parts[1], data.test_y


def _read(x: Tensor, encoder: Any) -> Tensor:
    """Images in the size and the range that the encoder reads."""
    size = encoder.reading.get("size")
    if size is not None and x.shape[-1] != size:
        x = torch.nn.functional.interpolate(x, size=(size, size), mode="bilinear", antialias=True)
    return x


def auc(scores: Tensor, truth: Tensor) -> float:
    """The area under the ROC curve: how likely a malignant lesion has the higher score; ties count half."""
    high, low = scores[truth == 1], scores[truth == 0]
    gaps = high[:, None] - low[None, :]
    return float((gaps > 0).double().mean() + 0.5 * (gaps == 0).double().mean())


def run_lesions(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """AUC on the test images after every round."""
    x, y, test_x, test_y = lesions(place.data_dir)
    mean, std = x.mean(dim=0), x.std(dim=0).clamp_min(1e-3)
    x, test_x = (x - mean) / std, (test_x - mean) / std
    training = Training(**settings["training"])

    def learned(told: Tensor, own: int, _: Fitted | None) -> Fitted:
        network = nets.build("mlp", features=x.shape[1], classes=2, hidden=(128,), dropout=0.5)
        posterior = as_posterior(settings["posterior"])
        return fit(
            network, (x[told], y[told]), posterior=posterior, training=training, start="scratch", seed=own
        )

    def measured(fitted: Fitted, own: int) -> dict[str, float]:
        mean = predict(fitted, test_x, draws=settings["draws"], seed=own).mean
        return {
            "auc": auc(mean[:, 1], test_y),
            "accuracy": float((mean.argmax(dim=1) == test_y).double().mean()),
        }

    return rounds.learn(
        x,
        fit=learned,
        measure=measured,
        acquire=settings["acquire"],
        first=settings["first"],
        batch=settings["batch"],
        budget=settings["budget"],
        seed=seed,
        draws=settings["draws"],
    )


def _skin(quick: bool) -> dict[str, Entry]:
    found = {}
    for name, acquire in (("BALD", "bald"), ("uniform", "random")):
        settings = {
            "quick": quick,
            "encoder": "lite0",
            "posterior": {"name": "mc_dropout"},
            "training": {"epochs": 1, "min_steps": 200, "batch_size": 64, "lr": 1e-3, "balance": "weights"},
            "acquire": acquire,
            "first": 100,
            "batch": 100 if quick else 20,
            "budget": 500,
            "draws": 50 if quick else 100,
        }
        found[name] = Entry(
            name=f"skin, {name}", settings=settings, run=run_lesions, seconds=8 if quick else 30
        )
    return found


def table_e(quick: bool) -> Table:
    """The skin lesions."""
    return Table(
        key="e",
        title="skin lesions, AUC against labels",
        source="The study of skin lesions (ISIC 2016, VGG16, AUC): curves only, no numbers are printed.",
        protocol=("Quick protocol: 100 a round, 50 draws. " if quick else "20 a round. ")
        + "ISIC 2016, the 826 training and 345 test images that are to be had at 256 x 256; features of a "
        "frozen EfficientNet-Lite0, a head of 128 hidden units with dropout .5, classes weighted, 200 steps "
        "of Adam 1e-3; 100 labels by chance, to 500; both methods have the first labels in common.",
        heads=("acquisition",),
        lines=[Line(words=(name,), entry=one) for name, one in _skin(quick).items()],
        columns=(
            last_column("auc", title="AUC at the end, %"),
            area_column("auc", title="mean AUC over the labels, %"),
        ),
        pictures=[
            Picture(
                name="e",
                title="Skin lesions",
                entries={name: one.name for name, one in _skin(quick).items()},
                measure="auc",
                words="AUC on the test images",
            )
        ],
    )


def claims() -> Sequence[Claim]:
    """What the paper says of skin lesions."""
    return [
        Claim(
            sentence="BALD reaches a higher AUC on skin lesions than uniform choice with the same labels.",
            table="e",
            pairs=[
                Pair(
                    ours="skin, BALD",
                    baseline="skin, uniform",
                    measure=area_of("auc", factor=100.0),
                    expected="higher",
                    words="BALD minus uniform, mean AUC in points",
                )
            ],
        )
    ]

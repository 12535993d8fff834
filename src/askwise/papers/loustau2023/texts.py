"""Texts with many tags: an encoder that learns from the first of them, and a head that asks for more."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from askwise import nets
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.bayes.predict import log_probs
from askwise.data import load
from askwise.encoders import SentenceEncoder
from askwise.encoders import load as load_encoder
from askwise.engine import open_engine
from askwise.errors import InputError
from askwise.math.entropy import entropy, marginal
from askwise.nets.encoded import encoded
from askwise.papers import rounds
from askwise.papers.curves import area_of, last_column, value_of
from askwise.papers.loustau2023.methods import DRAWS, METHODS, asking, better, gain
from askwise.papers.record import Claim, Entry, Line, Pair, Picture, Place, Table
from askwise.seeding import derive
from askwise.tasks import multilabel
from askwise.train import Training

DATA = {"GoEmotions": "goemotions", "XED, French": "xed"}
# The encoder of each set, and the usual rate for its kind; neither was tried out.
ENCODERS: Mapping[str, Mapping[str, Any]] = {
    "goemotions": {"encoder": "minilm", "lr": 2e-5},
    "xed": {"encoder": "french", "lr": 1e-3},
}
LEARNING: Mapping[str, Any] = {"epochs": 5, "batch_size": 16, "head_lr": 3e-3, "length": 64}


@dataclass(frozen=True)
class Thawing:
    """How an encoder learns: its name and rate, and what is the same for all of them."""

    encoder: str
    lr: float
    epochs: int
    batch_size: int
    head_lr: float
    """The rate of the linear layer above it."""
    length: int
    """Tokens of a text that are read."""


@lru_cache(maxsize=32)
def tagged_texts(
    name: str,
    data_dir: Path | None,
    train: int,
    test: int,
    *,
    first: int,
    seed: int,
    how: Thawing,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Features and tags of the texts to learn from and to test on.

    The encoder has learned from the texts that are labelled at the start, for a few epochs, together with
    a linear layer. What asks and answers later takes it as it is.
    """
    data = load(name, data_dir=data_dir, **({"language": "fr"} if name == "xed" else {}))
    lines, tests = list(data.train_x[:train]), list(data.test_x[:test])
    y, test_y = data.train_y[:train].float(), data.test_y[:test].float()
    found = load_encoder(how.encoder)
    if found is None or not isinstance(found.module, SentenceEncoder):
        raise InputError(f"{name} needs an encoder of texts, not {how.encoder}")
    told, module = rounds.first_items(len(lines), first, seed=seed), found.module
    tokens = module.tokens([lines[int(at)] for at in told], length=how.length)
    network: Any = fit(
        encoded(module, nn.Linear(module.width, y.shape[1]), thaw=how.epochs, thaw_lr=how.lr),
        (tokens[:, (tokens != module.padding).any(dim=0)], y[told]),
        posterior="point",
        task=multilabel(),
        training=Training(epochs=how.epochs, batch_size=how.batch_size, lr=how.head_lr),
        start="scratch",  # the linear layer; what is frozen stays
        seed=derive(seed, "loustau2023", "encoder"),
    ).network
    features = [nets.embed(network.encoder, part, length=how.length) for part in (lines, tests)]
    return features[0], y, features[1], test_y


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Top-1, top-5 and recall after every round, and how entropy follows the number of tags."""
    x, y, test_x, test_y = tagged_texts(
        settings["data"],
        place.data_dir,
        settings["pool"],
        settings["test"],
        first=settings["first"],
        seed=seed,
        how=Thawing(**settings["encoder"]),
    )
    engine, task = open_engine("local", processes=1), multilabel(threshold=0.2)

    def learned(told: Tensor, own: int, _: Fitted | None) -> Fitted:
        return fit(
            nets.build("mlp", features=x.shape[1], classes=y.shape[1], hidden=(64,)),
            (x[told], y[told]),
            posterior=as_posterior(settings["posterior"]),
            task=task,
            training=Training(**settings["training"]),
            start="scratch",
            seed=own,
        )

    def measured(fitted: Fitted, own: int) -> dict[str, float]:
        told = evaluate(fitted, (test_x, test_y), draws=DRAWS, seed=own, engine=engine)
        drawn = log_probs(fitted, test_x, draws=DRAWS, seed=own, engine=engine)
        chances = marginal(drawn)[..., 1].double()
        shares = chances - chances.logsumexp(dim=1, keepdim=True)  # one distribution over the tags
        both = torch.stack([entropy(shares), test_y.sum(dim=1).double()])
        return {
            "top_1": told["top_1"],
            "top_5": told["top_5"],
            "recall": told["recall_micro"],
            "tags": float(torch.corrcoef(both)[0, 1]),
        }

    found = rounds.learn(x, fit=learned, measure=measured, seed=seed, draws=DRAWS, **asking(settings))
    return {**found, "entropy_and_tags": found["tags"][-1]}


def entry(items: str, name: str, *, quick: bool) -> Entry:
    """One way to choose the next texts."""
    settings = {
        "quick": quick,
        "data": DATA[items],
        **METHODS[name],
        "pool": 400 if quick else 5000,
        "test": 200 if quick else 1400,
        "first": 100 if quick else 500,
        "batch": 100 if quick else 250,
        "budget": 300 if quick else 2000,
        "encoder": {**ENCODERS[DATA[items]], **LEARNING},
        "training": {"epochs": 20, "batch_size": 64, "lr": 3e-3},
        "options": {"u": 3} if METHODS[name]["acquire"] == "top_u" else {},
    }
    return Entry(name=f"{items}, {name}", settings=settings, run=run, seconds=5 if quick else 200)


def table_2(quick: bool) -> Table:
    """Texts with tags."""
    return Table(
        key="2",
        title="texts with many tags at equal labels",
        source="Reported for whole encoders trained 50 epochs (not for VOGN heads): top-1 / top-5 / "
        "recall: LDB camembert .78 / .98 / .80, flaubert .77 / .97 / .80; PHI camembert .66 / .91 / .71. "
        "Those sets, camembert and flaubert are not to be had here.",
        protocol=(
            "Quick protocol: a pool of 400 texts, 200 test texts, 100 + 100 to 300 labels. "
            if quick
            else "A pool of 5,000 texts, 1,400 test texts, 500 + 250 to 2,000 labels. "
        )
        + "GoEmotions (28 tags) by MiniLM; XED in French (8 tags) by the mean of French word vectors. The "
        f"encoder learns from the texts labelled at the start ({LEARNING['epochs']} epochs, batch "
        f"{LEARNING['batch_size']}, {ENCODERS['goemotions']['lr']:g} for MiniLM and "
        f"{ENCODERS['xed']['lr']:g} for the vectors, under a linear layer at {LEARNING['head_lr']:g}) and is "
        "the same for all methods of a seed from then on. A head of 64 hidden units, 20 epochs, new weights "
        f"each round, {DRAWS} draws; top-u with u = 3; scores are means over the tags.",
        heads=("data", "method"),
        lines=[
            Line(words=(items, name), entry=entry(items, name, quick=quick))
            for items in DATA
            for name in METHODS
        ],
        columns=(
            last_column("top_1", title="top-1 at the end, %"),
            last_column("top_5", title="top-5 at the end, %"),
            last_column("recall", title="recall at the end, %"),
        ),
        pictures=[
            Picture(
                name=f"2_{DATA[items]}",
                title=f"{items}: top-1",
                entries={name: entry(items, name, quick=quick).name for name in METHODS},
                measure="top_1",
                words="top-1 on the test texts",
            )
            for items in DATA
        ],
    )


def claim(other: str, *, quick: bool) -> Claim:
    """That top-u beats another way to choose texts."""
    measure = area_of("top_1", factor=100.0)
    pairs = [
        gain(
            lambda name, items=items: entry(items, name, quick=quick).name,  # type: ignore[misc]
            other,
            measure=measure,
            words=f"{items}, mean top-1 in points",
        )
        for items in DATA
    ]
    return better("texts", other, "2", pairs)


def warning(quick: bool) -> Claim:
    """That entropy follows the number of tags."""
    return Claim(
        sentence="Entropy over the tags grows with the number of tags that a text has: the slide's warning.",
        table="2",
        pairs=[
            Pair(
                ours=entry(items, "entropy, VOGN", quick=quick).name,
                baseline=0.0,
                measure=value_of("entropy_and_tags"),
                expected="higher",
                words=f"{items}: correlation of the entropy over the tags with the number of true tags",
            )
            for items in DATA
        ],
    )

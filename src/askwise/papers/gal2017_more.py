"""Gal et al. 2017, the smaller studies: two digits against MBR, Table 2 with pseudo-labels, skin lesions."""

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
from askwise.bayes.reset import reset
from askwise.data import load
from askwise.encoders import load as load_encoder
from askwise.errors import InputError
from askwise.papers import rounds
from askwise.papers.curves import (
    Number,
    area_column,
    area_of,
    labels_column,
    last_column,
    plan_of,
    run_on,
    value_of,
)
from askwise.papers.mbr import Harmonic, rbf, usual_width
from askwise.papers.pseudo import accuracy, pseudo_labels
from askwise.papers.record import Claim, Entry, Line, Pair, Picture, Place, Table
from askwise.pool import arrays
from askwise.runs.build import SIMULATED, learner, oracle
from askwise.runs.material import Material, material
from askwise.seeding import derive, generator
from askwise.store.facts import Answer
from askwise.train import Training

DIGITS = (3, 8)


# --- Figure 3: two digits


@cache
def two_digits(
    name: str, data_dir: Path | None, pool: int, test: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pool and test items of two digits, with labels 0 and 1."""
    data = load(name, data_dir=data_dir)
    parts: list[Tensor] = []
    for x, y, most in ((data.train_x, data.train_y, pool), (data.test_x, data.test_y, test)):
        if not isinstance(x, Tensor):
            raise InputError(f"{name} holds no images")
        own = ((y == DIGITS[0]) | (y == DIGITS[1])).nonzero().flatten()[:most]
        parts += [x[own], (y[own] == DIGITS[1]).long()]
    return parts[0], parts[1], parts[2], parts[3]


def run_network(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """A learning curve of the network on two digits."""
    x, y, test_x, test_y = two_digits(settings["data"], place.data_dir, settings["pool"], settings["test"])
    ids = tuple(f"digit-{number:05d}" for number in range(len(x)))
    names = [str(digit) for digit in DIGITS]
    labels = {name: names[label] for name, label in zip(ids, y.tolist(), strict=True)}
    known = Material(arrays(x, ids=ids), labels, (test_x, [names[label] for label in test_y.tolist()]))
    return run_on(settings, seed, place, known)


def run_graph(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """A learning curve of harmonic functions on two digits: MBR's choice, or by chance."""
    x, y, test_x, test_y = two_digits(settings["data"], place.data_dir, settings["pool"], settings["test"])
    flat, other = x.flatten(1), test_x.flatten(1)
    width = usual_width(flat)
    edges, across = rbf(flat, flat, width=width), rbf(other, flat, width=width)
    rng = generator(seed, "papers", "first")
    order = torch.randperm(len(x), generator=rng)
    first = [int(p) for c in (0, 1) for p in order[y[order] == c][: settings["per_class"]]]
    graph = Harmonic(edges, {position: int(y[position]) for position in first})
    labels, right = [], []
    while True:
        labels.append(len(graph.labels))
        right.append(float(((graph.predict(across) > 0.5).long() == test_y).double().mean()))
        if len(graph.labels) >= settings["budget"]:
            return {"labels": labels, "accuracy": right, "width": width, "validation": 0}
        for _ in range(settings["batch"]):
            best = (
                graph.best()
                if settings["choice"] == "mbr"
                else int(graph.free[int(torch.randint(len(graph.free), (), generator=rng))])
            )
            graph.tell(best, int(y[best]))


def _two(quick: bool) -> list[Entry]:
    pool, test, budget, batch = (240, 120, 60, 10) if quick else (1000, 2000, 100, 10)
    shared: dict[str, Any] = {"quick": quick, "data": "digits" if quick else "mnist", "digits": list(DIGITS)}
    shared |= {"pool": pool, "test": test}
    found = [
        Entry(
            name=f"two digits, {name}",
            settings={**shared, "choice": choice, "per_class": 5, "batch": batch, "budget": budget},
            run=run_graph,
            seconds=1 if quick else 120,
        )
        for name, choice in (("MBR", "mbr"), ("harmonic functions, random", "random"))
    ]
    for name, acquire in (
        ("BALD", {"acquire": "bald"}),
        ("VR, votes", {"acquire": "variation_ratios", "acquire_options": {"votes": True}}),
        ("entropy", {"acquire": "max_entropy"}),
        ("random", {"acquire": "random"}),
    ):
        plan = {
            "classes": [str(digit) for digit in DIGITS],
            "posterior": {"name": "mc_dropout"},
            "network": "digits_cnn" if quick else "gal_code_cnn",
            **acquire,
            "initial": {"per_class": 5},
            "batch": batch,
            "budget": budget,
            "training": {
                "epochs": 1,
                "min_steps": 50 if quick else 200,
                "batch_size": 32,
                "lr": 3e-3 if quick else 1e-3,
                "prior_precision": {"dense1": 7.0},
            },
            "draws": 20 if quick else 100,
        }
        settings = {**shared, "plan": plan}
        found.append(
            Entry(name=f"two digits, {name}", settings=settings, run=run_network, seconds=3 if quick else 60)
        )
    return found


def table_c(quick: bool) -> Table:
    """Figure 3."""
    entries = {one.name.partition(", ")[2]: one for one in _two(quick)}
    size = next(iter(entries.values())).settings
    return Table(
        key="c",
        title="two digits against minimum Bayes risk on a graph",
        source="Figure 3: curves only, no numbers are printed.",
        protocol=(
            "Quick protocol: the 8 x 8 digits of scikit-learn, digits_cnn, 50 steps at 3e-3, 20 draws. "
            if quick
            else ""
        )
        + f"The digits {DIGITS[0]} and {DIGITS[1]} (our choice), a pool of {size['pool']:,} and the first "
        f"{size['test']:,} test images of them; 5 labels of each class, then 10 a round (MBR: one after "
        "the other, each "
        "answered before the next is chosen). MBR: RBF graph over raw pixels, its width the median "
        "distance to "
        "the tenth neighbour, harmonic functions, the item that leaves the fewest errors to expect; test "
        "items "
        "by their edges. Network: the authors', MC dropout.",
        heads=("method",),
        lines=[Line(words=(name,), entry=one) for name, one in entries.items()],
        columns=(labels_column(0.95, theirs=False), last_column(), area_column()),
        pictures=[
            Picture(name="c", title="Two digits", entries={name: one.name for name, one in entries.items()})
        ],
    )


# --- Table 2: 1,000 labels


def run_many_labels(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """The error at the end of a run, and that of pseudo-labels learned from the same labels."""
    plan = plan_of(settings, seed)
    known = material(plan, data_dir=place.data_dir)
    with learner(plan, known, store=place.scratch / "run.db") as ours:
        ours.run(oracle=oracle(SIMULATED, plan, known))
        last = ours.rounds()[-1]
        asked = {fact.id for fact in ours.store.facts(Answer)}
    data = load(str(plan.data), data_dir=place.data_dir)
    x, y, test_x = data.train_x, data.train_y, data.test_x
    if not isinstance(x, Tensor) or not isinstance(test_x, Tensor):
        raise InputError("mnist holds no images")
    told = torch.tensor([name in asked for name in data.train_ids])
    network = nets.build(str(plan.network), size=x.shape[-1])
    reset(network, derive(seed, "papers", "pseudo"))
    options = {**settings["pseudo"], "seed": derive(seed, "papers", "pseudo")}
    pseudo_labels(network, (x[told], y[told]), x[~told], **options)
    return {
        "labels": last.labels,
        "error": 1 - last.metrics["test"]["accuracy"],
        "pseudo_error": 1 - accuracy(network, test_x, data.test_y),
    }


_TABLE_2 = {"random": "4.66", "BALD": "1.80", "VR, votes": "1.64", "entropy": "1.74"}


def _many(quick: bool) -> dict[str, Entry]:
    acquisitions: Mapping[str, Mapping[str, Any]] = {
        "random": {"acquire": "random"},
        "BALD": {"acquire": "bald"},
        "VR, votes": {"acquire": "variation_ratios", "acquire_options": {"votes": True}},
        "entropy": {"acquire": "max_entropy"},
    }
    found = {}
    for name, acquire in acquisitions.items():
        plan = {
            "data": "digits" if quick else "mnist",
            "classes": list("0123456789"),
            "posterior": {"name": "mc_dropout"},
            "network": "digits_cnn" if quick else "gal_code_cnn",
            **acquire,
            "initial": {"per_class": 2},
            "batch": 60 if quick else 10,
            "budget": 200 if quick else 1000,
            "training": {
                "epochs": 1,
                "min_steps": 100 if quick else 400,
                "batch_size": 32,
                "lr": 3e-3 if quick else 1e-3,
                "prior_precision": {"dense1": 7.0},
            },
            "draws": 20 if quick else 100,
            **({} if quick else {"pool_subset": 2000}),
        }
        settings = {
            "quick": quick,
            "plan": plan,
            "pseudo": {"steps": 300 if quick else 2000, "lr": 3e-3 if quick else 1e-3},
        }
        found[name] = Entry(
            name=f"1,000 labels, {name}",
            settings=settings,
            run=run_many_labels,
            seconds=6 if quick else 1500,
        )
    return found


def table_d(quick: bool) -> Table:
    """Table 2."""
    return Table(
        key="d",
        title=f"test error at {'200' if quick else '1,000'} labels, and pseudo-labels on the same labels",
        source="Table 2: error with 1,000 labels (5,000 more for validation); the semi-supervised numbers "
        "below are cited there.",
        protocol=(
            "Quick protocol, not comparable with theirs: the 8 x 8 digits of scikit-learn, digits_cnn, 20 "
            "+ 60 a "
            "round to 200 labels, 100 steps at 3e-3, 20 draws, 300 steps of pseudo-labels. "
            if quick
            else "20 + 10 a round to 1,000 labels, 400 steps, 100 draws, 2,000 pool items scored. "
        )
        + "The authors' network, MC dropout, no validation labels. Pseudo-labels (Lee 2013): a new network "
        "of the "
        "same kind learns the same labels and its guesses of all other training images; dropout off at test.",
        heads=("acquisition",),
        lines=[
            Line(words=(name,), entry=one, theirs={"error": _TABLE_2[name]})
            for name, one in _many(quick).items()
        ],
        columns=(
            Number("error", "test error, %", factor=100.0, theirs=True).column,
            Number("pseudo_error", "with pseudo-labels, %", factor=100.0).column,
        ),
        cited=(
            "Semi-supervised with 1,000 random labels, as Table 2 cites them, in % error: semi-supervised "
            "embedding "
            "5.73, transductive SVM 5.38, MTC 3.64, pseudo-label 3.46, AtlasRBF 3.68, DGN 2.40, ladder "
            "(gamma) "
            "1.53, virtual adversarial 1.32.",
        ),
    )


# --- Skin lesions


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
        "frozen "
        "EfficientNet-Lite0, a head of 128 hidden units with dropout .5, classes weighted, 200 steps of Adam "
        "1e-3; 100 labels by chance, to 500; both methods have the first labels in common.",
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
    """What the paper says of the smaller studies."""
    area, found = area_of(factor=100.0), []
    for name in ("BALD", "VR, votes", "entropy"):
        found.append(
            Claim(
                sentence=f"{name} with a Bayesian network needs fewer labels than MBR on two digits "
                "(Figure 3).",
                table="c",
                pairs=[
                    Pair(
                        ours=f"two digits, {name}",
                        baseline="two digits, MBR",
                        measure=area,
                        expected="higher",
                        words=f"{name} minus MBR, area in points",
                    )
                ],
            )
        )
    found.append(
        Claim(
            sentence="With so many labels chosen by VR, BALD or entropy the error is below random's (Table "
            "2).",
            table="d",
            pairs=[
                Pair(
                    ours=f"1,000 labels, {name}",
                    baseline="1,000 labels, random",
                    measure=value_of("error", factor=100.0),
                    expected="lower",
                    words=f"{name} minus random, error in points",
                )
                for name in ("VR, votes", "BALD", "entropy")
            ],
        )
    )
    found.append(
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
    )
    return found


def priority() -> list[str]:
    """The skin lesions and two digits: cheap enough for ten seeds."""
    return [one.name for one in (*_skin(False).values(), *_two(False))]

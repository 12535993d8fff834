"""Alvarez' lecture on Bayesian deep learning (after Gal and Ghahramani): dropout as a posterior."""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from askwise import nets
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.data import load, uci
from askwise.engine import open_engine
from askwise.papers.curves import Number, value_of
from askwise.papers.record import Claim, Entry, Line, Pair, Paper, Picture, Place, Table
from askwise.papers.shridhar2019 import images
from askwise.seeding import derive
from askwise.tasks import segmentation
from askwise.train import Training

POINT = {"name": "point"}
MC = {"name": "mc_dropout"}


def as_point(fitted: Fitted) -> Fitted:
    """The same weights with dropout off: what scaling the weights by the keep probability gives."""
    return Fitted(
        fitted.network, as_posterior(POINT), fitted.task, {}, fitted.history, item_shape=fitted.item_shape
    )


# --- LeNet: where dropout is

_KEPT = {"none": (), "end": ("dropout4",), "all": ("dropout1", "dropout2", "dropout3", "dropout4")}


def lenet(where: str, *, size: int) -> nn.Sequential:
    """LeNet-5 without dropout, with dropout before the last layer, or after every stage."""
    whole = nets.build("lenet5", size=size, dropout=0.5 if where == "end" else 0.25)
    stages = whole.named_children()
    return nn.Sequential(OrderedDict((k, m) for k, m in stages if "dropout" not in k or k in _KEPT[where]))


def run_lenet(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Test error of MC dropout and of dropout off, and the NLL after each stage of the training."""
    x, y, test_x, test_y = images("mnist", place.data_dir, settings["train"], settings["test"])
    network, engine = lenet(settings["dropout"], size=x.shape[-1]), open_engine("local", processes=1)
    posterior = as_posterior(POINT if settings["dropout"] == "none" else MC)
    drawn: dict[str, Any] = {"seed": derive(seed, "papers", "draws"), "engine": engine}
    fitted: Fitted | None = None
    curve: dict[str, list[float]] = {"mc": [], "off": []}
    told: dict[str, dict[str, Any]] = {}
    for stage in range(settings["stages"]):
        fitted = fit(
            network,
            (x, y),
            posterior=posterior,
            training=Training(**settings["training"]),
            start=fitted or "scratch",
            seed=derive(seed, "papers", "fit", stage),
        )
        told = {
            "mc": evaluate(fitted, (test_x, test_y), draws=settings["draws"], **drawn),
            "off": evaluate(as_point(fitted), (test_x, test_y), draws=1, **drawn),
        }
        for kind, found in told.items():
            curve[kind].append(found["nll"])
    weights = torch.cat([one.weight.flatten() for one in network_of(fitted) if isinstance(one, nn.Conv2d)])
    shares = torch.histc(weights.detach(), bins=40, min=-1.0, max=1.0) / len(weights)
    return {
        "nll_curve": curve,
        "filters": shares.tolist(),
        "filter_edges": torch.linspace(-1.0, 1.0, 41).tolist(),
        "error_mc": 1 - told["mc"]["accuracy"],
        "error_off": 1 - told["off"]["accuracy"],
        "overfit_mc": curve["mc"][-1] - min(curve["mc"]),
        "overfit_off": curve["off"][-1] - min(curve["off"]),
    }


def network_of(fitted: Fitted | None) -> list[nn.Module]:
    """The modules of what was learned."""
    return [] if fitted is None else list(fitted.network.modules())


def lenet_entry(where: str, part: str, *, quick: bool) -> Entry:
    """LeNet-5 with dropout there, on all images or on a quarter of them."""
    count = 1000 if quick else 60000
    return Entry(
        name=f"LeNet, dropout {where}, {part}",
        settings={
            "quick": quick,
            "dropout": where,
            "train": count if part == "all images" else count // 4,
            "test": 500 if quick else 10000,
            "stages": 4,
            "training": {"epochs": 5, "batch_size": 64 if quick else 128, "lr": 3e-3 if quick else 1e-3},
            "draws": 20 if quick else 50,
        },
        run=run_lenet,
        seconds=4 if quick else 1800,
    )


def table_1(quick: bool) -> Table:
    """LeNet on MNIST."""
    return Table(
        key="1",
        title="LeNet on MNIST: where dropout is, and how it predicts",
        source="Gal and Ghahramani 2015 (curves there): no dropout is worse than dropout at the end, which "
        "is worse than "
        "MC dropout in every layer; weight averaging fails; a quarter of MNIST does not overfit.",
        protocol=(
            "Quick protocol: the first 1,000 training images stand for all, 500 test images, 20 draws, "
            "batch 64. "
            if quick
            else "60,000 or 15,000 training images, 10,000 test images, 50 draws, batch 128. "
        )
        + "LeNet-5 (6 and 16 filters), Adam 1e-3, 20 epochs in four stages, dropout .25 after every stage "
        "or .5 before "
        "the last layer. Off: the same weights with dropout off, which is weight averaging. Rise: test NLL "
        "at the "
        "end minus its lowest over the stages, which is over-fitting.",
        heads=("dropout", "images"),
        lines=[
            Line(words=(where, part), entry=lenet_entry(where, part, quick=quick))
            for part in ("all images", "a quarter")
            for where in _KEPT
        ],
        columns=(
            Number("error_mc", "error by MC dropout, %", factor=100.0).column,
            Number("error_off", "error, dropout off, %", factor=100.0).column,
            Number("overfit_mc", "rise of NLL, MC", "{:.3f}").column,
            Number("overfit_off", "rise of NLL, off", "{:.3f}").column,
        ),
        pictures=[
            Picture(
                name="1_filters",
                title="Weights of the convolutions: Bayesian (dropout in all layers) and point",
                entries={
                    f"dropout {where}, {part}": lenet_entry(where, part, quick=quick).name
                    for part in ("all images", "a quarter")
                    for where in ("none", "all")
                },
                measure="filters",
                bins="filter_edges",
                words="weight",
            )
        ],
    )


# --- NIN and DSN on CIFAR-10

_CIFAR = {"NIN": ("10.43", "10.27"), "DSN": ("9.37", "9.32"), "DSN, augmented": ("7.95", "7.71")}


def run_cifar(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
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
    drawn: dict[str, Any] = {
        "seed": derive(seed, "papers", "draws"),
        "engine": open_engine("local", processes=1),
    }
    return {
        "error_mc": 1 - evaluate(fitted, (test_x, test_y), draws=settings["draws"], **drawn)["accuracy"],
        "error_off": 1 - evaluate(as_point(fitted), (test_x, test_y), draws=1, **drawn)["accuracy"],
    }


def cifar_entry(name: str, *, quick: bool) -> Entry:
    """One network, with or without augmentation."""
    training: dict[str, Any] = {"epochs": 1 if quick else 30, "batch_size": 16 if quick else 128, "lr": 1e-3}
    if "augmented" in name:
        training["augment"] = ["flip", "shift"]
    return Entry(
        name=f"CIFAR-10, {name}",
        settings={
            "quick": quick,
            "network": name.split(",")[0].lower(),
            "train": 64 if quick else 50000,
            "test": 50 if quick else 10000,
            "training": training,
            "draws": 5 if quick else 50,
        },
        run=run_cifar,
        seconds=25 if quick else 60 * 3600,
    )


def table_2(quick: bool) -> Table:
    """NIN and DSN."""
    return Table(
        key="2",
        title="CIFAR-10: standard dropout against MC dropout",
        source="Test error in %, after Gal and Ghahramani 2015: NIN 10.43 / 10.27 +- .05, DSN 9.37 / 9.32 "
        "+- .02, "
        "augmented DSN 7.95 / 7.71 +- .09.",
        protocol=(
            "Quick protocol, not comparable with theirs: one epoch of 64 images, 50 test images, 5 draws: "
            "it shows that "
            "the comparison runs, not who is better. "
            if quick
            else "A subset of the authors' epochs (30), all images, 50 draws. "
        )
        + "Adam 1e-3; one training, predicted both ways.",
        heads=("network",),
        lines=[
            Line(
                words=(name,),
                entry=cifar_entry(name, quick=quick),
                theirs={"error_off": standard, "error_mc": mc},
            )
            for name, (standard, mc) in _CIFAR.items()
        ],
        columns=(
            Number("error_off", "error, standard, %", factor=100.0, theirs=True).column,
            Number("error_mc", "error, MC dropout, %", factor=100.0, theirs=True).column,
        ),
    )


# --- UCI

# The table of the read-me of Gal's repository, where we have it: RMSE, log-likelihood.
_UCI: Mapping[str, tuple[str, str]] = {
    "bostonHousing": ("2.90 ± 0.18", "-2.40 ± 0.04"),
    "concrete": ("4.82 ± 0.16", "-2.93 ± 0.02"),
    "energy": ("0.54 ± 0.06", "-1.21 ± 0.01"),
    "kin8nm": ("–", "–"),
    "naval-propulsion-plant": ("–", "–"),
    "power-plant": ("–", "–"),
    "protein-tertiary-structure": ("–", "–"),
    "wine-quality-red": ("–", "–"),
    "yacht": ("0.67 ± 0.05", "-1.25 ± 0.01"),
}


def run_uci(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """RMSE and log-likelihood in the units of the data; the seed is the number of the split."""
    table = uci(settings["table"], data_dir=place.data_dir)
    x, y, test_x, test_y = table.split(seed)
    x, y = x[: settings["most"]], y[: settings["most"]]
    test_x, test_y = test_x[: settings["most"]], test_y[: settings["most"]]
    centre, scale = x.mean(dim=0), x.std(dim=0).clamp_min(1e-6)
    middle, spread = y.mean(), y.std()
    network = nets.build("mlp", features=x.shape[1], classes=1, hidden=(50,), dropout=settings["dropout"])
    fitted = fit(
        nets.build("homoscedastic", network=network),
        ((x - centre) / scale, (y - middle) / spread),
        posterior=as_posterior(MC),
        task="regression",
        training=Training(**settings["training"]),
        start="scratch",
        seed=derive(seed, "papers", "fit"),
    )
    told = evaluate(
        fitted,
        ((test_x - centre) / scale, (test_y - middle) / spread),
        draws=settings["draws"],
        seed=derive(seed, "papers", "draws"),
        engine=open_engine("local", processes=1),
    )
    return {
        "rmse": told["rmse"] * float(spread),
        "log_likelihood": told["log_likelihood"] - math.log(float(spread)),
    }


def uci_entry(name: str, *, quick: bool) -> Entry:
    """One of the nine sets."""
    return Entry(
        name=f"UCI, {name}",
        settings={
            "quick": quick,
            "table": name,
            "most": 1000 if quick else 10**6,
            "dropout": 0.01,
            "training": {"epochs": 20 if quick else 400, "batch_size": 128, "lr": 1e-2 if quick else 1e-3},
            "draws": 50 if quick else 1000,
        },
        run=run_uci,
        seconds=2 if quick else 300,
    )


def table_3(quick: bool) -> Table:
    """UCI regression."""
    return Table(
        key="3",
        title="UCI regression by MC dropout",
        source="The table of the read-me of Gal's repository (DropoutUncertaintyExps), for the four sets "
        "we have it for; "
        "± standard error over twenty splits. results/uci.md follows that code more closely.",
        protocol=(
            "Quick protocol: the first 1,000 rows of a split, 20 epochs at 1e-2, 50 draws; two splits. "
            if quick
            else "400 epochs of Adam 1e-3, batch 128, 1,000 draws. "
        )
        + "Gal's splits, a seed is a split; 50 hidden units, dropout .01, the noise learned with the "
        "weights, nothing "
        "chosen; ± standard error over the splits.",
        heads=("set",),
        lines=[
            Line(
                words=(name,),
                entry=uci_entry(name, quick=quick),
                theirs={"rmse": rmse, "log_likelihood": likelihood},
            )
            for name, (rmse, likelihood) in _UCI.items()
        ],
        columns=(
            Number("rmse", "RMSE", "{:.3f}", theirs=True).column,
            Number("log_likelihood", "log-likelihood", "{:.3f}", theirs=True).column,
        ),
    )


# --- SegNet on CamVid


@cache
def streets(data_dir: Path | None, shrink: int) -> Any:
    """CamVid, read once for all runs of a process."""
    return load("camvid", data_dir=data_dir, shrink=shrink)


def run_segnet(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Mean IoU and class-average accuracy by MC dropout and with dropout off, and the last training NLL."""
    data = streets(place.data_dir, settings["shrink"])
    x, y = data.train_x[: settings["train"]], data.train_y[: settings["train"]]
    test = data.test_x[: settings["test"]], data.test_y[: settings["test"]]
    fitted = fit(
        nets.build("segnet_basic", classes=len(data.classes), width=settings["width"]),
        (x, y),
        posterior=as_posterior(MC),
        task=segmentation(ignore=data.ignore),
        training=Training(**settings["training"]),
        start="scratch",
        seed=derive(seed, "papers", "fit"),
    )
    drawn: dict[str, Any] = {
        "seed": derive(seed, "papers", "draws"),
        "engine": open_engine("local", processes=1),
    }
    told = {
        "mc": evaluate(fitted, test, draws=settings["draws"], **drawn),
        "off": evaluate(as_point(fitted), test, draws=1, **drawn),
    }
    found: dict[str, Any] = {"training_nll": fitted.history[-1]["nll"]}
    for kind, one in told.items():
        found[f"iou_{kind}"] = one["mean_iou"]
        found[f"accuracy_{kind}"] = one["accuracy"]
    return found


def table_4(quick: bool) -> Table:
    """SegNet."""
    settings = {
        "quick": quick,
        "shrink": 4 if quick else 2,
        "width": 8 if quick else 32,
        "train": 40 if quick else 367,
        "test": 20 if quick else 233,
        "training": {"epochs": 5 if quick else 100, "batch_size": 4, "lr": 1e-3, "augment": ["flip"]},
        "draws": 5 if quick else 10,
    }
    one = Entry(
        name="CamVid, SegNet-Basic", settings=settings, run=run_segnet, seconds=20 if quick else 12 * 3600
    )
    return Table(
        key="4",
        title="Bayesian SegNet on CamVid",
        source="Bayesian SegNet: class-average accuracy 71.2 % -> 76.3 % when made Bayesian (the full "
        "SegNet).",
        protocol=(
            "Quick protocol, far from converged: 40 images at 60 x 45, 8 filters, 5 epochs. "
            if quick
            else "367 images at 120 x 90, 32 filters, 100 epochs (results/camvid.md stopped at 20 and was "
            "underfit: "
            "training NLL .54 to .66). "
        )
        + "SegNet-Basic, Adam 1e-3, batch 4, flips; one training, predicted by MC dropout and with dropout "
        "off; mean "
        "IoU and pixel accuracy on test images, unlabelled pixels left out.",
        heads=("network",),
        lines=[Line(words=("SegNet-Basic",), entry=one)],
        columns=(
            Number("iou_off", "mean IoU, off, %", factor=100.0).column,
            Number("iou_mc", "mean IoU, MC, %", factor=100.0).column,
            Number("accuracy_off", "pixel accuracy, off, %", factor=100.0).column,
            Number("accuracy_mc", "pixel accuracy, MC, %", factor=100.0).column,
            Number("training_nll", "training NLL at the end", "{:.3f}").column,
        ),
    )


def tables(quick: bool) -> Sequence[Table]:
    """LeNet, NIN and DSN, UCI, SegNet."""
    return (table_1(quick), table_2(quick), table_3(quick), table_4(quick))


def _less(ours: str, other: str, key: str, other_key: str, words: str) -> Pair:
    """That a measure of one entry is below another measure of another; where equal, of the same entry."""
    if ours == other:
        return Pair(
            ours=ours,
            baseline=0.0,
            measure=lambda row: 100 * (row[key] - row[other_key]),
            expected="lower",
            words=words,
        )
    return Pair(ours=ours, baseline=other, measure=value_of(key, factor=100.0), expected="lower", words=words)


def claims(quick: bool) -> Sequence[Claim]:
    """What the lecture and the papers behind it say."""

    def name(where: str, part: str = "all images") -> str:
        return lenet_entry(where, part, quick=quick).name

    return [
        Claim(
            sentence="LeNet's error: no dropout > dropout at the end > MC dropout in every layer.",
            table="1",
            pairs=[
                _less(name("end"), name("none"), "error_off", "error_off", "end minus none, error in points"),
                Pair(
                    ours=name("all"),
                    baseline=name("end"),
                    # the lecture's dropout at the end is averaged, its MC dropout is not
                    measure=lambda row: (
                        100 * row["error_mc" if row.settings["dropout"] == "all" else "error_off"]
                    ),
                    expected="lower",
                    words="MC in all layers minus end (off), error in points",
                ),
            ],
        ),
        Claim(
            sentence="Weight averaging fails with dropout in every layer: MC dropout has the lower error.",
            table="1",
            pairs=[
                _less(
                    name("all"), name("all"), "error_mc", "error_off", "MC minus off, dropout in all layers"
                )
            ],
        ),
        Claim(
            sentence="On a quarter of MNIST the Bayesian network overfits less than the one without dropout.",
            table="1",
            pairs=[
                Pair(
                    ours=name("all", "a quarter"),
                    baseline=name("none", "a quarter"),
                    measure=lambda row: row[
                        "overfit_mc" if row.settings["dropout"] == "all" else "overfit_off"
                    ],
                    expected="lower",
                    words="rise of the NLL: MC in all layers minus none",
                )
            ],
        ),
        Claim(
            sentence="MC dropout has a lower error than standard dropout on CIFAR-10 (NIN, DSN, augmented "
            "DSN).",
            table="2",
            pairs=[
                _less(
                    cifar_entry(one, quick=quick).name,
                    cifar_entry(one, quick=quick).name,
                    "error_mc",
                    "error_off",
                    f"{one}: MC minus standard, error in points",
                )
                for one in _CIFAR
            ],
        ),
        Claim(
            sentence="SegNet is better as a Bayesian network.",
            table="4",
            pairs=[
                _less(
                    "CamVid, SegNet-Basic",
                    "CamVid, SegNet-Basic",
                    "iou_off",
                    "iou_mc",
                    "mean IoU in points: off minus MC",
                )
            ],
        ),
    ]


PAPER = Paper(
    name="alvarez",
    title="Alvarez: Bayesian deep learning by dropout",
    cited="J. M. Alvarez, lecture on Bayesian deep learning, after Y. Gal and Z. Ghahramani 2015 (Bayesian "
    "convolutional neural networks with Bernoulli approximate variational inference, arXiv:1506.02158) and "
    "2016.",
    tables=tables,
    claims=claims,
    needs=("mnist", "cifar10"),
    quick_needs=("mnist", "cifar10"),
    priority=[
        *((uci_entry(name, quick=False).name, range(5)) for name in _UCI),
        *((lenet_entry(where, "a quarter", quick=False).name, range(3)) for where in _KEPT),
        *((lenet_entry(where, "all images", quick=False).name, range(3)) for where in _KEPT),
    ],
)

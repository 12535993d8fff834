"""Shridhar, Laumann and Liwicki 2019, Bayesian convolutional networks by variational inference."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from askwise import nets
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.bayes.predict import log_probs
from askwise.bayes.prune.weights import prune
from askwise.engine import open_engine
from askwise.errors import InputError
from askwise.math.uncertainty import variances
from askwise.papers.curves import Number, cpu_column, value_of
from askwise.papers.images import images
from askwise.papers.record import Claim, Entry, Line, Measure, Pair, Paper, Picture, Place, Table
from askwise.seeding import derive
from askwise.train import Training

LOCAL = "Bayesian, local"
KINDS = {LOCAL: "local", "Bayesian, whole weights": "sample", "point": None}
# Validation accuracy in %: Bayesian, point (the tables of results); AlexNetHalf and L1-pruned Bayesian.
THEIRS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("MNIST", "LeNet-5"): ("98", "98"),
    ("MNIST", "AlexNet"): ("99", "99"),
    ("CIFAR-10", "LeNet-5"): ("69", "68"),
    ("CIFAR-10", "AlexNet"): ("73", "73"),
}
HALF = {"MNIST": "99", "CIFAR-10": "79"}
PRUNED = {"MNIST": "99", "CIFAR-10": "71"}
UNCERTAINTY = {"MNIST": ("0.0096", "0.0026"), "CIFAR-10": ("0.1920", "0.0404")}
NETWORKS = {"LeNet-5": "lenet5", "AlexNet": "alexnet", "AlexNetHalf": "alexnet_half"}
DATA = {"MNIST": "mnist", "CIFAR-10": "cifar10"}
MEASURED = ("accuracy", "aleatoric", "epistemic")


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Accuracy, uncertainty and size after each stage of the training, and after pruning."""
    x, y, test_x, test_y = images(settings["data"], place.data_dir, settings["train"], settings["test"])
    network = nets.build(
        settings["network"],
        channels=x.shape[1],
        size=x.shape[-1],
        classes=10,
        activation=settings["activation"],
    )
    engine, draws = open_engine("local", processes=1), settings["draws"]
    found: dict[str, list[Any]] = {name: [] for name in ("epochs", *MEASURED)}
    fitted: Fitted | None = None
    for stage in range(settings["stages"]):
        fitted = fit(
            network,
            (x, y),
            posterior=as_posterior(settings["posterior"]),
            training=Training(**settings["training"]),
            start=fitted or "scratch",
            seed=derive(seed, "papers", "fit", stage),
        )
        drawn = log_probs(fitted, test_x, draws=draws, seed=derive(seed, "papers", "draws"), engine=engine)
        parts = variances(drawn)
        mean = drawn.exp().mean(dim=1)
        found["epochs"].append((stage + 1) * settings["training"]["epochs"])
        found["accuracy"].append(float((mean.argmax(dim=1) == test_y).double().mean()))
        found["aleatoric"].append(float(parts.aleatoric.mean()))
        found["epistemic"].append(float(parts.epistemic.mean()))
    if fitted is None:
        raise InputError("stages must be at least 1")
    less = prune(fitted, by="l1", amount=settings["pruned"])
    told = evaluate(less, (test_x, test_y), draws=draws, seed=derive(seed, "papers", "draws"), engine=engine)
    weights = sum(tensor.numel() for tensor in network.state_dict().values())
    return {
        "epochs": found["epochs"],
        **{f"{name}_by_epoch": found[name] for name in MEASURED},
        **{name: found[name][-1] for name in MEASURED},
        "pruned_accuracy": told["accuracy"],
        "size": sum(tensor.numel() for tensor in fitted.tensors().values()) / weights,
        "follows": _follows(found),
    }


def _follows(found: Mapping[str, Sequence[Any]]) -> float | None:
    """The correlation of total uncertainty with accuracy over the stages; none where one does not move."""
    total = torch.tensor([a + b for a, b in zip(found["aleatoric"], found["epistemic"], strict=True)])
    both = torch.stack([total, torch.tensor(found["accuracy"])])
    value = float(torch.corrcoef(both)[0, 1]) if both.shape[1] > 1 else float("nan")
    return value if value == value else None


def entry(items: str, network: str, kind: str, *, quick: bool) -> Entry:
    """One network on one data set."""
    noise = KINDS[kind]
    few, epochs, lr = (500, 4, 3e-3) if network == "LeNet-5" or not quick else (1000, 8, 1e-3)
    posterior: dict[str, Any] = {"name": "point"}
    if noise is not None:
        fixed = {
            "prior_std": 0.1,
            "rho_mean": -5.0,
            "kl_weight": 0.01 if quick else 1.0,
            "warm_up": "constant",
            "shared_rate": True,
        }
        posterior = {"name": "bbb", "all": True, "noise": noise, **fixed}
    return Entry(
        name=f"{items}, {network}, {kind}",
        settings={
            "quick": quick,
            "data": DATA[items],
            "network": NETWORKS[network],
            "posterior": posterior,
            "activation": "relu" if quick else "softplus",
            "train": few if quick else 60000,
            "test": 300 if quick else 10000,
            "stages": 3 if quick else 5,
            "training": {"epochs": epochs, "batch_size": 32 if quick else 256, "lr": lr if quick else 1e-3},
            "draws": 10 if quick else 25,
            "pruned": 0.5,
        },
        run=run,
        seconds=(3 if network == "LeNet-5" else 30) if quick else 3600 if network == "LeNet-5" else 4 * 3600,
    )


def _lines(quick: bool) -> list[Line]:
    lines = []
    for (items, network), (bayesian, point) in THEIRS.items():
        for kind in KINDS:
            cells = {"accuracy": point if kind == "point" else bayesian}
            if network == "AlexNet" and kind == LOCAL:
                cells["pruned_accuracy"] = PRUNED[items]
            if network == "LeNet-5" and kind == LOCAL:
                cells["aleatoric"], cells["epistemic"] = UNCERTAINTY[items]
            one = entry(items, network, kind, quick=quick)
            lines.append(Line(words=(items, network, kind), entry=one, theirs=cells))
    for items, accuracy in HALF.items():
        one = entry(items, "AlexNetHalf", LOCAL, quick=quick)
        lines.append(Line(words=(items, "AlexNetHalf", LOCAL), entry=one, theirs={"accuracy": accuracy}))
    return lines


def _pictures(quick: bool) -> list[Picture]:
    return [
        Picture(
            name=f"1_{measure}",
            title=f"Bayesian networks, local noise: {measure} while they learn",
            entries={
                f"{items}, {network}": entry(items, network, LOCAL, quick=quick).name
                for items, network in THEIRS
            },
            measure=f"{measure}_by_epoch",
            x="epochs",
            words=measure if measure == "accuracy" else f"{measure} variance of a class",
        )
        for measure in MEASURED
    ]


def _table_1(quick: bool) -> Table:
    return Table(
        key="1",
        title="Bayesian and point networks, with and without local reparameterisation",
        source="The tables of validation accuracy, of AlexNetHalf and L1 pruning, and of LeNet-5's "
        "uncertainty (whole per cent there).",
        protocol=(
            "Quick protocol, not comparable with theirs: 300 test images, relu, batch 32, KL weight .01, 10 "
            "draws; LeNet-5: the first 500 training images, 12 epochs at 3e-3; AlexNet: the first 1,000, 24 "
            "epochs at 1e-3, which is still short for it. Otherwise: "
            if quick
            else "All images, 20 epochs, batch 256, KL weight 1, 25 draws. "
        )
        + "Softplus, Adam 1e-3 (begun anew at each stage of measuring), every layer Gaussian, prior N(0, "
        ".1^2), rho ~ N(-5, .1) and learned at the weights' rate, loss mean NLL + KL / labels; the "
        "mean of whole weight draws on test images. Uncertainty as variances per class, mean over "
        "classes and images. Pruned: half of the weights, by L1.",
        heads=("data", "network", "kind"),
        lines=_lines(quick),
        columns=(
            Number("accuracy", "accuracy, %", factor=100.0, theirs=True).column,
            Number("aleatoric", "aleatoric", "{:.4f}", theirs=True).column,
            Number("epistemic", "epistemic", "{:.4f}", theirs=True).column,
            Number("pruned_accuracy", "pruned, %", factor=100.0, theirs=True).column,
            Number("size", "numbers kept for each weight", "{:.2f}").column,
            cpu_column(),
        ),
        pictures=_pictures(quick),
        cited=(
            "Super-resolution (ESPCN) and a GAN with a Bayesian discriminator, which the paper names "
            "without numbers, are examples/super_resolution.py and examples/gan.py.",
            "Users of the public code report 58 to 61 % on CIFAR-10.",
        ),
    )


def tables(quick: bool) -> Sequence[Table]:
    """Accuracy, uncertainty and size."""
    return (_table_1(quick),)


def claims(quick: bool) -> Sequence[Claim]:
    """What the paper says."""

    def name(items: str, network: str, kind: str) -> str:
        return entry(items, network, kind, quick=quick).name

    def ahead(other: str, words: str) -> list[Pair]:
        """That the local network is ahead of another kind in accuracy, on every data set."""
        return [
            Pair(
                ours=name(items, network, LOCAL),
                baseline=name(items, network, other),
                measure=value_of("accuracy", factor=100.0),
                expected="higher",
                words=f"{items}, {network}: {words}, accuracy in points",
            )
            for items, network in THEIRS
        ]

    def below_zero(measure: Measure, words: str, *, counted: bool = False) -> list[Pair]:
        """That a measure of the local network is below 0, on every data set."""
        return [
            Pair(
                ours=name(items, network, LOCAL),
                baseline=0.0,
                measure=measure,
                expected="lower",
                words=f"{items}, {network}: {words}",
                counted=counted,
            )
            for items, network in THEIRS
        ]

    sentences = {
        "Bayesian networks are no worse than point networks (they are better in accuracy).": ahead(
            "point", "Bayesian minus point"
        ),
        "Local reparameterisation is better than drawing whole weights.": ahead(
            "Bayesian, whole weights", "local minus whole weights"
        ),
        "Uncertainty falls as accuracy rises during training.": below_zero(
            value_of("follows"), "correlation of total uncertainty with accuracy over the stages"
        ),
        "A Bayesian network keeps twice the numbers of a point network (within 5 %).": below_zero(
            lambda row: abs(float(row["size"]) - 2.0) - 0.05, "distance from twice, minus .05", counted=True
        ),
    }
    return [Claim(sentence=one, table="1", pairs=pairs) for one, pairs in sentences.items()]


PAPER = Paper(
    name="shridhar2019",
    title="Shridhar, Laumann, Liwicki 2019: Bayesian CNNs by variational inference",
    cited="K. Shridhar, F. Laumann, M. Liwicki. A Comprehensive Guide to Bayesian Convolutional Neural "
    "Network with Variational Inference. 2019, arXiv:1901.02731.",
    tables=tables,
    claims=claims,
    needs=("mnist", "cifar10"),
    quick_seeds=range(5),
    quick_needs=("mnist", "cifar10"),
    priority=[
        (entry(items, "LeNet-5", kind, quick=False).name, range(2)) for items in DATA for kind in KINDS
    ],
)

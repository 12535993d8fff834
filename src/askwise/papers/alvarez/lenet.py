"""LeNet on MNIST: where dropout is, how it predicts, and whether it overfits."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from askwise import nets
from askwise.bayes.fit import fit
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.papers.alvarez.dropout import MC, POINT, both_ways, less, less_than
from askwise.papers.curves import Number
from askwise.papers.images import images
from askwise.papers.record import Claim, Entry, Line, Pair, Picture, Place, Table
from askwise.runs.rows import Row
from askwise.seeding import derive
from askwise.train import Training

KEPT = {"none": (), "end": ("dropout4",), "all": ("dropout1", "dropout2", "dropout3", "dropout4")}


def network(where: str, *, size: int) -> nn.Sequential:
    """LeNet-5 without dropout, with dropout before the last layer, or after every stage."""
    whole = nets.build("lenet5", size=size, dropout=0.5 if where == "end" else 0.25)
    stages = whole.named_children()
    return nn.Sequential(OrderedDict((k, m) for k, m in stages if "dropout" not in k or k in KEPT[where]))


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """Test error of MC dropout and of dropout off, and the NLL after each stage of the training."""
    x, y, test_x, test_y = images("mnist", place.data_dir, settings["train"], settings["test"])
    own = network(settings["dropout"], size=x.shape[-1])
    posterior = as_posterior(POINT if settings["dropout"] == "none" else MC)
    fitted: Fitted | None = None
    curve: dict[str, list[float]] = {"mc": [], "off": []}
    told: dict[str, dict[str, Any]] = {}
    for stage in range(settings["stages"]):
        fitted = fit(
            own,
            (x, y),
            posterior=posterior,
            training=Training(**settings["training"]),
            start=fitted or "scratch",
            seed=derive(seed, "papers", "fit", stage),
        )
        told = both_ways(fitted, (test_x, test_y), draws=settings["draws"], seed=seed)
        for kind, found in told.items():
            curve[kind].append(found["nll"])
    weights = torch.cat([one.weight.flatten() for one in modules_of(fitted) if isinstance(one, nn.Conv2d)])
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


def modules_of(fitted: Fitted | None) -> list[nn.Module]:
    """The modules of what was learned."""
    return [] if fitted is None else list(fitted.network.modules())


def entry(where: str, part: str, *, quick: bool) -> Entry:
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
        run=run,
        seconds=4 if quick else 1800,
    )


def table_1(quick: bool) -> Table:
    """LeNet on MNIST."""
    return Table(
        key="1",
        title="LeNet on MNIST: where dropout is, and how it predicts",
        source="Gal and Ghahramani 2015 (curves there): no dropout is worse than dropout at the end, which "
        "is worse than MC dropout in every layer; weight averaging fails; a quarter of MNIST does not "
        "overfit.",
        protocol=(
            "Quick protocol: the first 1,000 training images stand for all, 500 test images, 20 draws, "
            "batch 64, Adam 3e-3. Otherwise: "
            if quick
            else "60,000 or 15,000 training images, 10,000 test images, 50 draws, batch 128. "
        )
        + "LeNet-5 (6 and 16 filters), Adam 1e-3, 20 epochs in four stages, dropout .25 after every stage or "
        ".5 before the last layer. Off: the same weights with dropout off, which is weight averaging. Rise: "
        "test NLL at the end minus its lowest over the stages, which is over-fitting.",
        heads=("dropout", "images"),
        lines=[
            Line(words=(where, part), entry=entry(where, part, quick=quick))
            for part in ("all images", "a quarter")
            for where in KEPT
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
                    f"dropout {where}, {part}": entry(where, part, quick=quick).name
                    for part in ("all images", "a quarter")
                    for where in ("none", "all")
                },
                measure="filters",
                bins="filter_edges",
                words="weight",
            )
        ],
    )


def claims(quick: bool) -> list[Claim]:
    """What is said of LeNet."""

    def name(where: str, part: str = "all images") -> str:
        return entry(where, part, quick=quick).name

    def in_use(row: Row, measure: str) -> Any:
        """A measure as the lecture uses the network: MC where dropout is in every layer, else off."""
        return row[f"{measure}_{'mc' if row.settings['dropout'] == 'all' else 'off'}"]

    best = Pair(
        ours=name("all"),
        baseline=name("end"),
        measure=lambda row: 100 * in_use(row, "error"),
        expected="lower",
        words="MC in all layers minus end (off), error in points",
    )
    steady = Pair(
        ours=name("all", "a quarter"),
        baseline=name("none", "a quarter"),
        measure=lambda row: in_use(row, "overfit"),
        expected="lower",
        words="rise of the NLL: MC in all layers minus none",
    )
    return [
        Claim(
            sentence="LeNet's error: no dropout > dropout at the end > MC dropout in every layer.",
            table="1",
            pairs=[
                less_than(name("end"), name("none"), "error_off", "end minus none, error in points"),
                best,
            ],
        ),
        Claim(
            sentence="Weight averaging fails with dropout in every layer: MC dropout has the lower error.",
            table="1",
            pairs=[less("error_mc", "error_off", name("all"), "MC minus off, dropout in all layers")],
        ),
        Claim(
            sentence="On a quarter of MNIST the Bayesian network overfits less than the one without dropout.",
            table="1",
            pairs=[steady],
        ),
    ]

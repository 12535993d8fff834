"""The nine UCI regressions by MC dropout."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from askwise import nets
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fit import fit
from askwise.bayes.posteriors import as_posterior
from askwise.data import uci
from askwise.engine import open_engine
from askwise.papers.alvarez.dropout import MC
from askwise.papers.curves import Number
from askwise.papers.record import Entry, Line, Place, Table
from askwise.seeding import derive, generator
from askwise.train import Training

# The table of the read-me of Gal's repository, where we have it: RMSE, log-likelihood.
THEIRS: Mapping[str, tuple[str, str]] = {
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


def run(settings: Mapping[str, Any], seed: int, place: Place) -> dict[str, Any]:
    """RMSE and log-likelihood in the units of the data; the seed is the number of the split."""
    table = uci(settings["table"], data_dir=place.data_dir)
    x, y, test_x, test_y = table.split(seed)
    order = torch.randperm(len(x), generator=generator(seed, "papers", "rows"))  # some tables are sorted
    some = order[: settings["rows by chance"]]
    x, y = x[some], y[some]
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


def entry(name: str, *, quick: bool) -> Entry:
    """One of the nine sets."""
    return Entry(
        name=f"UCI, {name}",
        settings={
            "quick": quick,
            "table": name,
            "rows by chance": 1000 if quick else 10**6,
            "dropout": 0.01,
            "training": {"epochs": 200 if quick else 400, "batch_size": 128, "lr": 1e-2 if quick else 1e-3},
            "draws": 50 if quick else 1000,
        },
        run=run,
        seconds=2 if quick else 300,
    )


def table_3(quick: bool) -> Table:
    """UCI regression."""
    return Table(
        key="3",
        title="UCI regression by MC dropout",
        source="The table of the read-me of Gal's repository (DropoutUncertaintyExps), for the four sets we "
        "have it for; ± standard error over twenty splits. results/uci.md follows that code more closely.",
        protocol=(
            "Quick protocol: 1,000 training rows of a split by chance, 200 epochs at 1e-2, 50 draws. "
            if quick
            else "400 epochs of Adam 1e-3, batch 128, 1,000 draws. "
        )
        + "Gal's splits, a seed is a split; 50 hidden units, dropout .01, the noise learned with the "
        "weights, nothing chosen; ± standard error over the splits.",
        heads=("set",),
        lines=[
            Line(
                words=(name,),
                entry=entry(name, quick=quick),
                theirs={"rmse": rmse, "log_likelihood": likelihood},
            )
            for name, (rmse, likelihood) in THEIRS.items()
        ],
        columns=(
            Number("rmse", "RMSE", "{:.3f}", theirs=True).column,
            Number("log_likelihood", "log-likelihood", "{:.3f}", theirs=True).column,
        ),
    )

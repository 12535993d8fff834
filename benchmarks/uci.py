"""UCI regression: Gal's protocol for MC dropout on his splits, and other posteriors with their defaults beside it.

Gal's protocol is that of his public repository at its latest commit (yaringal/DropoutUncertaintyExps at 6eb4497:
experiment.py, net/net.py, the stored logs of its grid search); what is different here is said in `PROTOCOL`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from jobs import tables
from jobs.experiment import Experiment, Key, Row, options, plain
from jobs.tables import Measure
from matplotlib.figure import Figure
from torch import Tensor, nn

import askwise as aw
from askwise.seeding import derive, generator

SPLITS = range(20)
HIDDEN, DRAWS, HELD_OUT = 50, 1000, 0.2
RATES = (0.005, 0.01, 0.05, 0.1)
LENGTH_SCALE = 1e-2
# Precisions of the noise in the units of the data, Gal's three for every set; the others try more of them, because
# networks that fit better or worse than his reach the ends of his grid.
TAUS = {
    "yacht": (0.25, 0.5, 0.75),
    "concrete": (0.025, 0.05, 0.075),
    "energy": (0.25, 0.5, 0.75),
    "bostonHousing": (0.1, 0.15, 0.2),
}
FACTORS = tuple(2.0**power for power in range(-4, 5))  # of the middle one


@dataclass(frozen=True)
class Method:
    """A posterior, the options of its training, and what is chosen on the held-out fifth."""

    posterior: Any
    training: Mapping[str, Any] = field(default_factory=dict)  # aw.Training() as it is
    rates: Sequence[float] = (0.0,)
    gals_taus: bool = False
    climbs: bool = False


GAL = "Gal's mc_dropout"
METHODS = {
    GAL: Method(
        aw.mc_dropout(length_scale=LENGTH_SCALE),
        {"epochs": 4000, "batch_size": 128, "lr": 1e-3},  # 40 epochs x 100, Keras' Adam
        rates=RATES,
        gals_taus=True,
    ),
    "mc_dropout": Method(
        aw.mc_dropout(length_scale=LENGTH_SCALE), {"epochs": 400, "batch_size": 128, "lr": 1e-3}, rates=RATES
    ),
    "bbb": Method(aw.bbb(), climbs=True),
    "vogn": Method(aw.vogn(), climbs=True),
    "ivon": Method(aw.ivon(), climbs=True),
    "laplace": Method(aw.laplace(), climbs=True),
    "vbll": Method(aw.vbll(), climbs=True),
    "ensemble": Method(aw.ensemble(), climbs=True),
}
BASELINE = GAL
# The table of the repository's read-me, by grid search: RMSE and log-likelihood, ± standard error over the splits.
PUBLISHED = {
    "yacht": ("0.67 ± 0.05", "-1.25 ± 0.01"),
    "concrete": ("4.82 ± 0.16", "-2.93 ± 0.02"),
    "energy": ("0.54 ± 0.06", "-1.21 ± 0.01"),
    "bostonHousing": ("2.90 ± 0.18", "-2.40 ± 0.04"),
}
RMSE = Measure(key="rmse", title="RMSE", write="{:.3f}")
LIKELIHOOD = Measure(key="log_likelihood", title="log-likelihood", write="{:.3f}", high=True)
PROTOCOL = (
    f"The twenty splits of Gal and of Hernández-Lobato (one tenth is the test part). One hidden layer of {HIDDEN} ReLU "
    "units. Inputs and targets are normalised by the part that is learned from; RMSE and log-likelihood are in the "
    "units of the data. A fifth of the training part, drawn by the number of the split, is held out to choose the "
    "precision tau of the noise by the log-likelihood there; then the network learns anew from the whole training part "
    f"and is tested once. The mixture of {DRAWS:,} draws is measured.\n\n"
    f"**{GAL}**: dropout on the inputs and on the hidden layer; its rate ({', '.join(map(str, RATES))}) and one of three "
    f"values of tau are chosen together on the held-out fifth, twelve trainings; length-scale {LENGTH_SCALE:g}, Adam "
    "1e-3, batch 128, 4,000 epochs. The repository's `n_epochs` is 40 and its table was made with a multiplier of 100, "
    "which the read-me calls ten times the epochs of the paper. Different from his code: he draws 10,000 times; his "
    "weight decay has factors of tau and keep that do not belong there (either decay is nearly nothing at this "
    "length-scale); the held-out fifth is another one.\n\n"
    f"**mc_dropout** is the same with 400 epochs (40 x 10) and tau from a wider grid: a "
    "sixteenth to sixteen times the middle one of Gal's, in steps of two. **The others** have the defaults of "
    "the library for posterior and training, no dropout, and tau from the wider grid, where they climb: from the middle "
    "one to the better of its neighbours, until neither is better. Gal's grid ends at .75 for yacht "
    "and energy, so that no log-likelihood there can exceed -1.06."
)


class Split:
    """One split in the units of the data: what is learned from, what is held out of it, and the test part."""

    def __init__(self, name: str, number: int) -> None:
        x, y, test_x, test_y = aw.data.uci(name).split(number)
        order = torch.randperm(len(x), generator=generator(number, "uci", "held out"))  # files are sorted
        kept, held_out = order.tensor_split([int((1 - HELD_OUT) * len(x))])
        self.train, self.test = (x, y), (test_x, test_y)
        self.kept, self.held_out = (x[kept], y[kept]), (x[held_out], y[held_out])


class Normal:
    """Units in which the part that is learned from has mean 0 and variance 1."""

    def __init__(self, part: tuple[Tensor, Tensor]) -> None:
        x, y = part
        self.mean, self.std = x.mean(0), x.std(0, correction=0)
        self.std[self.std == 0] = 1
        self.y_mean, self.y_std = y.mean(), y.std(correction=0)

    def of(self, part: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """A part in these units."""
        x, y = part
        return ((x - self.mean) / self.std).float(), ((y - self.y_mean) / self.y_std).float()


def network(features: int, rate: float) -> nn.Module:
    """One hidden layer; dropout on inputs and hidden units where there is a rate."""
    plain_network = aw.nets.mlp(features, 1, hidden=(HIDDEN,), dropout=rate)
    return nn.Sequential(nn.Dropout(rate), *plain_network) if rate else plain_network


def grid(data: str, method: Method) -> list[dict[str, float]]:
    """What a method may choose from."""
    taus = TAUS[data] if method.gals_taus else [factor * TAUS[data][1] for factor in FACTORS]
    return [{"tau": tau, "rate": rate} for rate in method.rates for tau in taus]


def _by_likelihood(found: Mapping[str, float]) -> float:
    return found["log_likelihood"]


def climb(
    choices: Sequence[Mapping[str, float]], measured: Callable[[Mapping[str, float]], dict[str, float]]
) -> list[dict[str, float]]:
    """What was measured on the way from the middle to a choice that is better than both of its neighbours."""
    at, found = len(choices) // 2, dict[int, dict[str, float]]()
    while True:
        for near in (at, at - 1, at + 1):
            if near in range(len(choices)) and near not in found:
                found[near] = measured(choices[near])
        best = max(found, key=lambda one: _by_likelihood(found[one]))
        if best == at:
            return list(found.values())
        at = best


def tried(
    method: str,
    learn: tuple[Tensor, Tensor],
    test: tuple[Tensor, Tensor],
    *,
    tau: float,
    rate: float,
    seed: int,
) -> dict[str, float]:
    """RMSE and log-likelihood on `test`, in the units of the data, after learning from `learn`."""
    units = Normal(learn)
    scale = units.y_std.item()
    torch.manual_seed(0)  # the weights are drawn anew from the seed
    fitted = aw.fit(
        network(learn[0].shape[1], rate),
        units.of(learn),
        posterior=METHODS[method].posterior,
        task=aw.tasks.regression(tau=tau * scale**2, standardise=False),
        training=aw.Training(**METHODS[method].training),
        start="scratch",
        seed=derive(seed, "uci", "fit"),
    )
    found = aw.evaluate(fitted, units.of(test), draws=DRAWS, seed=derive(seed, "uci", "draws"))
    return {
        "rmse": found["rmse"] * scale,
        "log_likelihood": found["log_likelihood"] - math.log(scale),
    }


def run(key: Key, _: Path) -> dict[str, Any]:
    """Choose on the held-out fifth, learn from the whole training part, test once."""
    data, number, method = str(key["data"]), int(key["split"]), str(key["posterior"])
    split = Split(data, number)

    def measured(one: Mapping[str, float]) -> dict[str, float]:
        return {**one, **tried(method, split.kept, split.held_out, seed=number, **one)}

    choices = grid(data, METHODS[method])
    tried_out = climb(choices, measured) if METHODS[method].climbs else [measured(one) for one in choices]
    best = max(tried_out, key=_by_likelihood)
    chosen = {name: best[name] for name in ("tau", "rate")}
    return {
        **tried(method, split.train, split.test, seed=number, **chosen),
        **chosen,
        "held_out": [{name: round(value, 4) for name, value in one.items()} for one in tried_out],
    }


def settings(key: Key) -> dict[str, Any]:
    """All that decides a job beside its key."""
    method = METHODS[str(key["posterior"])]
    return plain(
        {
            "hidden": HIDDEN,
            "draws": DRAWS,
            "held_out": HELD_OUT,
            "grid": grid(str(key["data"]), method),
            "posterior": options(method.posterior),
            "training": options(aw.Training(**method.training), task="regression"),
            **({"climbs": True} if method.climbs else {}),
        }
    )


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/uci.md and .png."""
    lines = ["# UCI regression on Gal's splits", "", PROTOCOL, "", tables.ABOUT.format(units="splits"), ""]
    lines += [
        "Mean ± standard error over the splits. The splits of a set share most of their rows, so intervals are narrower "
        "than those over new data would be.",
        "",
    ]
    for data in TAUS:
        own = [row for row in rows if row["data"] == data]
        if not own:
            continue
        lines += [f"## {data}", ""]
        for measure in (RMSE, LIKELIHOOD):
            values = tables.of(own, measure.key, by="posterior", unit="split")
            lines += tables.differences(values, measure, baseline=BASELINE, unit="split")
        rmse, likelihood = PUBLISHED[data]
        lines += [
            f"Published for {GAL}: RMSE {rmse}, log-likelihood {likelihood} (± standard error).",
            "",
            f"Chosen on the held-out fifths: {_chosen(own)}.",
            "",
        ]
    tables.save(folder / "uci.md", [*lines, *tables.footer(rows, units="split"), "![UCI](uci.png)", ""])
    _picture(rows, folder / "uci.png")


def _chosen(rows: Sequence[Row]) -> str:
    told = []
    for method in dict.fromkeys(row["posterior"] for row in rows):
        own = [row for row in rows if row["posterior"] == method]
        counts = {tau: sum(row["tau"] == tau for row in own) for tau in sorted({row["tau"] for row in own})}
        rates = fmean(row["rate"] for row in own)
        said = ", ".join(f"{tau:g} x {count}" for tau, count in counts.items())
        told.append(f"{method} tau {said}" + (f" (mean rate {rates:.3f})" if rates else ""))
    return "; ".join(told)


def _picture(rows: Sequence[Row], path: Path) -> None:
    drawn = Figure(figsize=(3.2 * len(TAUS), 5.5), layout="constrained")
    axes = drawn.subplots(2, len(TAUS))
    for column, data in enumerate(TAUS):
        for place, measure in enumerate((RMSE, LIKELIHOOD)):
            values = tables.of(
                [row for row in rows if row["data"] == data], measure.key, by="posterior", unit="split"
            )
            if values:
                axes[place, column].boxplot(
                    [list(own.values()) for own in values.values()], tick_labels=list(values)
                )
            axes[place, column].tick_params(axis="x", rotation=60, labelsize=8)
            axes[place, column].set_title(data if not place else "", fontsize=10)
            axes[place, column].grid(axis="y", alpha=0.3)
    axes[0, 0].set_ylabel(RMSE.title)
    axes[1, 0].set_ylabel(LIKELIHOOD.title)
    drawn.savefig(path, dpi=110)


@cache
def ready() -> None:
    """Refuses where a table is missing."""
    for name in TAUS:
        aw.data.uci(name)


EXPERIMENT = Experiment(
    name="uci",
    about="Gal's protocol beside the other posteriors, four sets, 20 splits",
    jobs=[
        {"data": data, "split": split, "posterior": method}
        for split in SPLITS
        for data in TAUS
        for method in METHODS
    ],
    settings=settings,
    run=run,
    tables=write,
    seconds=45,
    ready=ready,
)

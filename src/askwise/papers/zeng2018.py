"""Zeng, Lesnikowski and Alvarez 2018, The Relevance of Bayesian Layer Positioning (arXiv 1811.12535)."""

from collections.abc import Mapping, Sequence
from typing import Any

from askwise.papers.curves import (
    Number,
    area_column,
    cpu_column,
    last_column,
    last_of,
    run_plan,
)
from askwise.papers.record import Claim, Entry, Line, Pair, Paper, Picture, Table

PLACEMENTS: Mapping[str, Mapping[str, Any]] = {
    "BNN": {"all": True},
    "BNN-1": {"last": 1},
    "BNN-2": {"last": 2},
    "BNN-3": {"last": 3},
    "BNN1": {"first": 1},
    "BNN2": {"first": 2},
    "BNN3": {"first": 3},
}
ACQUISITIONS: Mapping[str, Mapping[str, Any]] = {
    "Random": {"acquire": "random"},
    "Max Entropy": {"acquire": "max_entropy"},
    "Var Ratios": {"acquire": "variation_ratios", "acquire_options": {"votes": True}},
}
# Table 2 of the paper, mu = -3: % test error at about 1,000 labels (MC dropout: of Gal et al. 2017).
THEIRS: Mapping[str, Sequence[str]] = {
    "BNN": ("6.62", "3.67", "3.56"),
    "BNN-1": ("5.58", "2.63", "2.40"),
    "BNN-2": ("5.71", "3.22", "3.00"),
    "BNN-3": ("6.37", "3.28", "3.34"),
    "BNN1": ("6.62", "7.50", "2.70"),
    "BNN2": ("6.44", "4.62", "2.84"),
    "BNN3": ("6.59", "3.58", "3.32"),
    "CNN": ("6.90", "10.03", "6.48"),
    "MC dropout": ("4.66", "1.74", "1.64"),
}
# Table 3: the same with the best mu of -3, -5, -9 and -11.
BEST_MU: Mapping[str, Sequence[str]] = {
    "BNN": ("6.07", "3.28", "2.74"),
    "BNN-1": ("5.36", "2.63", "2.38"),
    "BNN-2": ("5.71", "3.15", "2.69"),
    "BNN-3": ("5.88", "2.87", "2.89"),
    "BNN1": ("5.93", "7.50", "2.70"),
    "BNN2": ("5.76", "4.62", "2.59"),
    "BNN3": ("6.56", "3.44", "2.97"),
    "CNN": ("6.90", "10.03", "6.29"),
}
MUS = (-3, -5, -9, -11)
_PAPER: Mapping[str, Any] = {"prior_std": 1.0, "kl_weight": 1.0, "warm_up": "constant"}
RATES: Mapping[str, Mapping[str, Any]] = {
    "shared": {**_PAPER, "shared_rate": True},
    "own": {**_PAPER, "shared_rate": False},
    "default": {},
}
"""How the widths learn: at the weights' rate, at their own, or that under the library's prior and KL."""
_WORDS = {"shared": "shared, paper's prior", "own": "own, paper's prior", "default": "own, library's prior"}
_QUICK = (
    "Quick protocol, not comparable with theirs number by number: the 8 x 8 digits of scikit-learn instead "
    "of MNIST, digits_cnn, 100 epochs at 3e-3, 20 + 40 labels to 140, 10 draws. "
)
_FULL = (
    "MNIST, the printed network (Gal's: 4 x 4 kernels, 32 filters), 200 epochs of Adam 1e-3, batch 64, 20 "
    "balanced labels + 10 a round to 300 labels (the paper: to about 1,000), 20 draws (the paper: 100; drawn "
    "convolutions take a minute for 1,000 images and 100 draws), 2,000 pool items scored a round, the first "
    "5,000 test images. "
)
_COMMON = (
    "New weights each round; mean-field Gaussians with Flipout in convolutions and local noise in dense "
    "layers, prior N(0, 1), KL weight 1, no warm-up, biases deterministic, rho ~ N(mu, .1); dropout off at "
    "prediction; variation ratios by votes, for the CNN 1 - max p, because one network has one vote. The "
    "error is that of the mean of the draws."
)


def posterior(placement: str, *, mu: int, rate: str) -> dict[str, Any]:
    """The posterior of a placement; the widths start at `mu` and learn as `rate` says."""
    if placement == "CNN":
        return {"name": "point"}
    if placement == "MC dropout":
        return {"name": "mc_dropout"}
    return {"name": "bbb", **PLACEMENTS[placement], **RATES[rate], "rho_mean": float(mu)}


def entry(placement: str, name: str, *, quick: bool, mu: int = -3, rate: str = "shared") -> Entry:
    """One placement and acquisition."""
    plan = {
        "data": "digits" if quick else "mnist",
        "classes": list("0123456789"),
        "network": "digits_cnn" if quick else "gal_cnn",
        "posterior": posterior(placement, mu=mu, rate=rate),
        **ACQUISITIONS[name],
        "initial": {"per_class": 2},
        "batch": 40 if quick else 10,
        "budget": 140 if quick else 300,
        "training": {"epochs": 100 if quick else 200, "batch_size": 64, "lr": 3e-3 if quick else 1e-3},
        "draws": 10 if quick else 20,
        **({} if quick else {"pool_subset": 2000, "test": {"count": 5000}}),
    }
    if placement == "CNN" and name == "Var Ratios":
        plan["acquire_options"] = {"votes": False}  # one network has one vote
    drawn_convolutions = placement in ("BNN", "BNN-3", "BNN1", "BNN2", "BNN3")
    return Entry(
        name=f"{placement}, {name}, mu {mu}, {rate} rate"
        if placement in PLACEMENTS
        else f"{placement}, {name}",
        settings={"quick": quick, "plan": plan},
        run=run_plan,
        seconds=5 if quick else 3600 if drawn_convolutions else 1300,
    )


def _table_2(quick: bool) -> Table:
    lines = [
        Line(words=(placement, name), entry=entry(placement, name, quick=quick), theirs={"error": theirs})
        for placement, cells in THEIRS.items()
        for name, theirs in zip(ACQUISITIONS, cells, strict=True)
    ]
    pictures = [
        Picture(
            name=f"2_{name.split()[0].lower()}",
            title=f"{name}, by placement",
            entries={
                one: entry(one, name, quick=quick).name
                for one in ("BNN-1", "BNN", "BNN1", "CNN", "MC dropout")
            },
        )
        for name in ("Var Ratios", "Random")
    ]
    return Table(
        key="2",
        title="eight placements, three acquisitions, mu = -3",
        source="Table 2: % error at about 1,000 labels, 3 trials. MC dropout: as the full paper cites Gal "
        "et al.",
        protocol=(_QUICK if quick else _FULL)
        + _COMMON
        + " The widths learn at the weights' rate, as in the paper.",
        heads=("placement", "acquisition"),
        lines=lines,
        columns=(
            last_column(title="test error at the end, %", theirs=True, error=True),
            area_column(),
            Number("parameters", "numbers kept, thousand", "{:,.0f}", factor=1e-3).column,
            cpu_column(),
        ),
        pictures=pictures,
        cited=(
            "The printed cells contradict some of the claims: BNN3 3.58 < BNN 3.67 (Max Entropy), BNN2 6.44 "
            "< 6.62 (Random), BNN1 to BNN3 all beat BNN on Var Ratios, and MC dropout (1.64) beats BNN-1 "
            "(2.40).",
        ),
    )


def _table_3(quick: bool) -> Table:
    placements = ("BNN-1", "BNN") if quick else ("BNN-1", "BNN", "BNN2")
    lines = [
        Line(
            words=(placement, str(mu), _WORDS[rate]),
            entry=entry(placement, "Var Ratios", quick=quick, mu=mu, rate=rate),
            theirs={"error": f"{BEST_MU[placement][2]} (best mu)"},
        )
        for placement in placements
        for rate in RATES
        for mu in MUS
    ]
    best = "; ".join(f"{name} {' / '.join(cells)}" for name, cells in BEST_MU.items())
    return Table(
        key="3",
        title="the start of the widths, Var Ratios",
        source="Table 3: % error with the best mu of -3, -5, -9, -11 for each cell.",
        protocol=(_QUICK if quick else _FULL)
        + _COMMON
        + " Rate: the widths learn at the weights' rate (shared, the paper's) or at their own, which lets "
        "them cross their whole range in a training. With the library's prior its KL weight (.01) and its "
        "warm-up are taken, too, in place of those above.",
        heads=("placement", "mu", "rate of the widths, prior"),
        lines=lines,
        columns=(last_column(title="test error at the end, %", theirs=True, error=True), area_column()),
        cited=(f"Table 3 in full (Random / Max Entropy / Var Ratios): {best}.",),
    )


def tables(quick: bool) -> Sequence[Table]:
    """Tables 2 and 3."""
    return (_table_2(quick), _table_3(quick))


def claims(quick: bool) -> Sequence[Claim]:
    """What the paper says, decided by the accuracy at the end under Var Ratios."""
    last = last_of(factor=100.0)

    def pair(ours: str, other: str, name: str = "Var Ratios") -> Pair:
        return Pair(
            ours=entry(ours, name, quick=quick).name,
            baseline=entry(other, name, quick=quick).name,
            measure=last,
            expected="higher",
            words=f"{name}: {ours} minus {other}, accuracy at the end in points",
        )

    def mus(placement: str, rate: str, mu: int) -> Pair:
        high, low = (entry(placement, "Var Ratios", quick=quick, mu=m, rate=rate).name for m in (-3, mu))
        words = f"{placement}, {_WORDS[rate]}: mu -3 minus mu {mu}, accuracy at the end in points"
        return Pair(ours=high, baseline=low, measure=last, expected="higher", words=words)

    others = [name for name in THEIRS if name not in ("BNN-1", "MC dropout")]
    return [
        Claim(
            sentence="BNN-1 is the best of the eight (Var Ratios).",
            table="2",
            pairs=[pair("BNN-1", name) for name in others],
        ),
        Claim(sentence="BNN-1 beats the full BNN (Var Ratios).", table="2", pairs=[pair("BNN-1", "BNN")]),
        Claim(
            sentence="BNN-1, BNN-2 and BNN-3 beat the full BNN (Var Ratios).",
            table="2",
            pairs=[pair(name, "BNN") for name in ("BNN-1", "BNN-2", "BNN-3")],
        ),
        Claim(
            sentence="CNN, BNN1, BNN2 and BNN3 fall behind the full BNN (Var Ratios).",
            table="2",
            pairs=[pair("BNN", name) for name in ("CNN", "BNN1", "BNN2", "BNN3")],
        ),
        Claim(
            sentence="BNN-1 beats MC dropout (Var Ratios; no claim of the paper).",
            table="2",
            pairs=[pair("BNN-1", "MC dropout")],
        ),
        Claim(
            sentence="mu = -3 is better than -5, -9 and -11, with the paper's shared rate.",
            table="3",
            pairs=[mus(name, "shared", mu) for name in ("BNN-1", "BNN") for mu in MUS[1:]],
        ),
        Claim(
            sentence="mu = -3 is still better than -11 once the widths have a rate of their own.",
            table="3",
            pairs=[mus(name, "own", -11) for name in ("BNN-1", "BNN")],
        ),
        Claim(
            sentence="mu = -3 is still better than -11 with the library's prior and KL weight as well.",
            table="3",
            pairs=[mus(name, "default", -11) for name in ("BNN-1", "BNN")],
        ),
    ]


PAPER = Paper(
    name="zeng2018",
    title="Zeng, Lesnikowski, Alvarez 2018: Bayesian layer positioning",
    cited="J. Zeng, A. Lesnikowski, J. M. Alvarez. The Relevance of Bayesian Layer Positioning to Model "
    "Uncertainty in Deep Bayesian Active Learning. 2018, arXiv:1811.12535.",
    tables=tables,
    claims=claims,
    needs=("mnist",),
    priority=[
        (entry(placement, name, quick=False).name, range(first, first + 1))
        for first in range(3)
        for placement in ("BNN-1", "CNN", "BNN")
        for name in ("Var Ratios", "Random")
    ],
)

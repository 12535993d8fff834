"""The protocol of the digits runs, settled on training digits that are held out: never on the test digits.

The seeds are others than those of benchmarks/digits.py. What wins here is written into
askwise/demo/protocol.py by hand, and the table says by how much it won.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from jobs import curves, tables
from jobs.experiment import Experiment, Key, Row

from askwise.demo import METHODS as ALL_METHODS
from askwise.demo import PROTOCOL, Protocol

SEEDS = range(100, 110)
METHODS = ("random", "variation_ratios")  # how well a setting learns, and how well it asks
HELD_OUT = 400  # of the 1,201 training digits, drawn by the seed
BASELINE = "as it is"
# What must be chosen: each setting is a change of askwise.demo.PROTOCOL.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "lr 1e-3": {"training": {"lr": 1e-3}},
    "lr 1e-2": {"training": {"lr": 1e-2}},
    "100 epochs": {"training": {"epochs": 100}},
    "200 epochs": {"training": {"epochs": 200}},
    "200 epochs, lr 1e-3": {"training": {"epochs": 200, "lr": 1e-3}},
    "prior .3": {"posterior": {"prior_std": 0.3}},
    "prior .1": {"posterior": {"prior_std": 0.1}},
    "kl_weight .1": {"posterior": {"kl_weight": 0.1}},
    "200 epochs, prior .3": {"training": {"epochs": 200}, "posterior": {"prior_std": 0.3}},
    "200 epochs, kl_weight .1": {"training": {"epochs": 200}, "posterior": {"kl_weight": 0.1}},
}


def protocol(setting: str) -> Protocol:
    """The demo's protocol with one setting."""
    changes = {name: {**getattr(PROTOCOL, name), **change} for name, change in SETTINGS[setting].items()}
    return replace(PROTOCOL, **changes)


def run(key: Key, scratch: Path) -> dict[str, object]:
    """The curve of one setting, method and seed on the held-out training digits."""
    chosen = protocol(str(key["setting"]))
    return curves.run(chosen, str(key["method"]), int(key["seed"]), scratch, held_out=HELD_OUT)


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/digits_protocol.md."""
    budget = PROTOCOL.budget
    lines = [
        "# Settling the protocol of the digits runs",
        "",
        f"Every run holds {HELD_OUT} of the 1,201 training digits out, drawn by the seed, and is measured on them; the "
        f"596 test digits are not used. {PROTOCOL.initial} labels first, {PROTOCOL.batch} more each round, to {budget}. A "
        "setting is a change of `askwise.demo.PROTOCOL`. Chosen is the highest mean area under the curve over "
        f"{' and '.join(METHODS)}, and of settings that are undecided the cheapest; the demo's method is chosen by the "
        "last table.",
        "",
        tables.ABOUT.format(units="seeds"),
        "",
        "## Mean over the methods",
        "",
        *_mean_over_methods(rows, budget),
    ]
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        if own:
            lines += [f"## {method}", ""]
            lines += curves.areas(own, budget=budget, baseline=BASELINE, by="setting")
    usual = [row for row in rows if row["setting"] == BASELINE]
    if usual:
        lines += [f"## Every method, {BASELINE}", ""]
        lines += curves.areas(usual, budget=budget, baseline="random")
    tables.save(folder / "digits_protocol.md", [*lines, *tables.footer(rows)])


def _mean_over_methods(rows: Sequence[Row], budget: int) -> list[str]:
    """One value for each setting and seed that all methods have finished."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in (row for row in rows if row["method"] in METHODS):
        found.setdefault(row["setting"], {}).setdefault(row["seed"], []).append(curves.area_to(budget, row))
    values = {
        setting: {seed: fmean(areas) for seed, areas in seeds.items() if len(areas) == len(METHODS)}
        for setting, seeds in found.items()
    }
    complete = {setting: seeds for setting, seeds in values.items() if seeds}
    return tables.differences(complete, curves.AREA, baseline=BASELINE)


EXPERIMENT = Experiment(
    name="digits_protocol",
    about="what the digits protocol should be, on held-out training digits",
    jobs=[
        {"setting": setting, "method": method, "seed": seed}
        for seed in SEEDS
        for setting in SETTINGS
        for method in (ALL_METHODS if setting == BASELINE else METHODS)
    ],
    settings=lambda key: curves.settings(protocol(str(key["setting"])), held_out=HELD_OUT),
    run=run,
    tables=write,
    seconds=40,
)

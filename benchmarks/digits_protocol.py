"""The protocol of the digits runs, settled on training digits that are held out: never on the test digits.

The seeds are others than those of benchmarks/digits.py. What wins here is written into
askwise/demo/protocol.py by hand; settings are given in full, so that its rows stay good after that.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from jobs import curves, tables
from jobs.experiment import Experiment, Key, Row

from askwise.demo import METHODS as ALL_METHODS
from askwise.demo import Protocol

SEEDS = range(100, 105)
METHODS = ("random", "variation_ratios")  # how well a setting learns, and how well it asks
HELD_OUT = 400  # of the 1,201 training digits, drawn by the seed
TRAINING: Mapping[str, Any] = {"epochs": 50, "min_steps": 250, "batch_size": 64, "lr": 3e-3}
POSTERIOR: Mapping[str, Any] = {"name": "bbb", "last": 1, "kl_weight": 0.01}
BASELINE = ALL_METHODS_AT = "250 steps"
# What must be chosen, as changes of the two above; `steps` are at least so many.
SETTINGS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "250 steps": ({}, {}),
    "50 epochs": ({"min_steps": 1}, {}),
    "500 steps": ({"min_steps": 500}, {}),
    "250 steps, lr 1e-3": ({"lr": 1e-3}, {}),
    "250 steps, kl_weight .1": ({}, {"kl_weight": 0.1}),
    "250 steps, kl_weight 1": ({}, {"kl_weight": 1.0}),
}


def protocol(setting: str) -> Protocol:
    """The protocol of one setting."""
    training, posterior = SETTINGS[setting]
    return Protocol(training={**TRAINING, **training}, posterior={**POSTERIOR, **posterior})


def run(key: Key, scratch: Path) -> dict[str, object]:
    """The curve of one setting, method and seed on the held-out training digits."""
    chosen = protocol(str(key["setting"]))
    return curves.run(chosen, str(key["method"]), int(key["seed"]), scratch, held_out=HELD_OUT)


def write(rows: Sequence[Row], folder: Path) -> None:
    """results/digits_protocol.md."""
    usual = protocol(BASELINE)
    budget = usual.budget
    lines = [
        "# Settling the protocol of the digits runs",
        "",
        f"Every run holds {HELD_OUT} of the 1,201 training digits out, drawn by the seed, and is measured on them; the "
        f"596 test digits are not used. {usual.initial} labels first, {usual.batch} more each round, to {budget}. "
        f"Every setting has {dict(TRAINING)} and {dict(POSTERIOR)} but for what it names; steps are at least so many. "
        f"Chosen is the highest mean area under the curve over {' and '.join(METHODS)}, and of settings that are "
        "undecided the cheapest; the demo's method is chosen by the last table.",
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
    every = [row for row in rows if row["setting"] == ALL_METHODS_AT]
    if every:
        lines += [f"## Every method, {ALL_METHODS_AT}", ""]
        lines += curves.areas(every, budget=budget, baseline="random")
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
        for method in (ALL_METHODS if setting == ALL_METHODS_AT else METHODS)
    ],
    settings=lambda key: curves.settings(protocol(str(key["setting"])), held_out=HELD_OUT),
    run=run,
    tables=write,
    seconds=90,
)

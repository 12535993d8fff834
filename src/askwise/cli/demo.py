"""`askwise demo`: a network asks for the labels it needs, and is compared with random labelling."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from askwise.cli.live import bars
from askwise.cli.options import AsJson, print_json, seeds

_VERSUS = ("points against random\n(95 % interval)", "gap that n\ncould show", "verdict")
_TITLE = "Labels to a target (three rounds in a row; first hit): median and range"
_REACHED = {
    "labels_to_90": "90 %, 3\nin a row",
    "first_hit_90": "90 %,\nfirst hit",
    "labels_to_95": "95 %, 3\nin a row",
    "first_hit_95": "95 %,\nfirst hit",
}


def demo(
    acquire: Annotated[
        str | None, typer.Option(metavar="NAME", help="How to choose the questions, e.g. bald or power-bald.")
    ] = None,
    seeds_: Annotated[
        str, typer.Option("--seeds", metavar="SEEDS", help="One run for each seed, e.g. 0-4.")
    ] = "0-2",
    budget: Annotated[int, typer.Option(help="Labels in all, the first ones included.")] = 140,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the runs and the report.")
    ] = Path("askwise-demo"),
    processes: Annotated[
        int | None, typer.Option(help="Runs at a time; by default one for each core.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Learn handwritten digits from few labels; a report of it.

    A Bayesian network's own questions stand against random ones. No download, about two minutes.
    Interrupted, it goes on where it was.
    """
    from dataclasses import replace

    from askwise.demo import DEFAULT, PROTOCOL, Job, outcome, runs
    from askwise.engine import Local
    from askwise.runs.build import SIMULATED
    from askwise.runs.many import run_all

    started = perf_counter()
    protocol = replace(PROTOCOL, budget=budget)
    methods = list(dict.fromkeys([acquire or DEFAULT, "random"]))
    jobs = [
        Job(name, seed, out / f"{name}-{protocol.budget}-seed{seed}.db")
        for name in methods
        for seed in seeds(seeds_)
    ]
    wanted = runs(protocol, jobs)
    out.mkdir(parents=True, exist_ok=True)
    with bars(dict.fromkeys((job.name for job in jobs), protocol.budget), lines=not json) as tell:
        engine = Local(processes=processes and min(processes, len(jobs)))
        run_all(wanted, engine, source=SIMULATED, on_round=tell, progress=tell.doing)
    found = outcome(protocol, jobs, page=out / "report.html")
    found["seconds"] = round(perf_counter() - started, 3)
    if json:
        print_json(found)
    else:
        _print(found)


def _print(found: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    budget = next(iter(found["summary"].values()))["area"]["budget"]
    areas = Table("acquisition", "n", "area", *_VERSUS, box=None, title_justify="left")
    areas.title = f"Area under the curve to {budget} labels"
    costs = Table("acquisition", "n", *_REACHED.values(), "accuracy\nat the end", box=None)
    costs.title, costs.title_justify = _TITLE, "left"
    for name, told in found["summary"].items():
        last = [run["accuracy"][-1] for run in found["runs"][name].values()]
        cells = [_cell(told[target], found["budget"] + told["validation"]) for target in _REACHED]
        areas.add_row(name, str(told["n"]), *_area(told["area"]))
        costs.add_row(name, str(told["n"]), *cells, f"{100 * sum(last) / len(last):.1f} %")
    console.print(areas)
    console.print()
    console.print(costs)
    typer.echo(f"{found['seconds']:.0f} s; the report: {found['report']}")


def _area(told: Mapping[str, Any]) -> list[str]:
    from askwise.report.wording import between, points

    mean = "–" if told["mean"] is None else f"{100 * told['mean']:.2f} %"
    found = told.get("difference")
    if found is None:
        return [mean, told.get("why", ""), "", ""]
    gap = f"{points(found['mean'])} ({between(found['low'], found['high'])})"
    return [mean, gap, points(found["detectable"]).removeprefix("+"), found["verdict"]]


def _cell(cost: Mapping[str, Any], budget: int) -> str:
    def written(value: float | None) -> str:
        return f"> {budget}" if value is None else f"{value:g}"

    # The range stands below the median: five columns fit a terminal of 80 characters.
    spread = f"\n{written(cost['min'])} to {written(cost['max'])}" if cost["min"] != cost["max"] else ""
    return written(cost["median"]) + spread

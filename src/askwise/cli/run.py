"""`askwise run`: the loop of a plan, answered by a file or a simulation."""

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from askwise.cli.live import bars
from askwise.cli.options import AsJson, DataDir, Settings, print_json, seeds


def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN.toml")],
    oracle: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|simulated",
            help="Who answers: a CSV, JSONL or Parquet file with the columns id and label, or `simulated` "
            "for the labels of the data set itself. Without it the run stops at its first questions.",
        ),
    ] = None,
    data: DataDir = None,
    set_: Settings = None,
    seeds_: Annotated[
        str | None, typer.Option("--seeds", metavar="SEEDS", help="One run for each seed, e.g. 0-4 or 0,3.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Refuse to continue under another torch, thread count or CPU.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Run a plan, or go on with it where it was interrupted."""
    from askwise.cli.one_run import run_one
    from askwise.cli.stores import store_path
    from askwise.loop.plan import make
    from askwise.planned import material, read_plan

    started = perf_counter()
    whole = read_plan(plan, overrides=set_ or ())
    if seeds_ is None:
        plans = {store_path(plan, whole): whole}
    else:
        plans = {
            store_path(plan, whole, seed=seed): make({**whole.model_dump(), "seed": seed})
            for seed in seeds(seeds_)
        }
    known = material(whole, data_dir=data)
    found = []
    with bars({str(store): one.budget for store, one in plans.items()}) as tell:
        for store, one in plans.items():
            found.append(run_one(one, known, store, oracle, tell, exact=exact))
    if json:
        print_json({"runs": found, "seconds": round(perf_counter() - started, 3)})
        return
    for result in found:
        typer.echo(_line(result))
    typer.echo(f"report: askwise report {' '.join(map(str, plans))}")


def _line(result: dict[str, Any]) -> str:
    last = f", accuracy {result['accuracy'][-1]:.3f}" if result["accuracy"] else ""
    said = result.get("stopped")
    if said is None:
        said = (
            f"waits for {result['waits_for']} answers; give them with: --oracle labels.csv (columns id,label)"
        )
    return f"{result['store']}: seed {result['seed']}{last}: {said}"

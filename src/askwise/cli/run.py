"""`askwise run`: the loop of a plan, answered by a file or a simulation."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.live import bars
from askwise.cli.options import AsJson, DataDir, Settings, item_line, print_json, seeds
from askwise.errors import command

if TYPE_CHECKING:
    from askwise.runs.one import Ended, Run


def run(
    plans: Annotated[
        list[Path], typer.Argument(help="Projects, or plans in TOML files.", metavar="NAME|PLAN...")
    ],
    oracle: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|simulated",
            help="Who answers: a CSV, JSONL or Parquet file with the columns id and label, or `simulated` "
            "for the labels of the data set itself. Without it the run stops at its first questions.",
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Stop when the accuracy's lower limit reaches this, e.g. 0.9."),
    ] = None,
    data: DataDir = None,
    set_: Settings = None,
    seeds_: Annotated[
        str | None, typer.Option("--seeds", metavar="SEEDS", help="One run for each seed, e.g. 0-4 or 0,3.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of processes: several runs get one each, a single run scores with all."
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Refuse to continue under another torch, thread count or CPU.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Run plans, or go on with them where they were interrupted.

    Several runs go side by side, by default one on each core; with engine = "ray" in the first plan, on
    a cluster.
    """
    from askwise.engine import kept, open_engine
    from askwise.runs.many import run_all
    from askwise.store import shown

    started = perf_counter()
    stop = [] if until is None else [f"until={until}"]
    wanted = [*(set_ or ()), *stop, *([f"engine_options.processes={processes}"] if processes else ())]
    runs = _runs(plans, wanted, [None] if seeds_ is None else seeds(seeds_), data)
    engine = open_engine(runs[0].plan.engine, **runs[0].plan.engine_options)
    with bars({run.name: run.plan.budget for run in runs}) as tell, kept(engine):
        ended = run_all(runs, engine, source=oracle, exact=exact, on_round=tell, progress=tell.doing)
    found = [_summary(run, end) for run, end in zip(runs, ended, strict=True)]
    for note in dict.fromkeys(note for end in ended for note in end.notes):
        typer.echo(f"askwise: note: {note}", err=True)
    if json:
        print_json({"runs": found, "seconds": round(perf_counter() - started, 3)})
        return
    for one, result, end in zip(runs, found, ended, strict=True):
        if end.unused:
            typer.echo(f"askwise: note: {_unused(end.unused, str(oracle), one)}", err=True)
        typer.echo(_line(result, one, end))
        for question in end.questions:
            guess = f" (guess: {question.guess})" if question.guess else ""
            typer.echo(f"  {item_line(question.id, question.name)}{guess}")
    typer.echo(f"report: {command('report', *(shown(run.store) for run in runs))}")


def _runs(
    plans: Sequence[Path], wanted: Sequence[str], every: Sequence[int | None], data: Path | None
) -> "list[Run]":
    """Every plan with every seed; the runs of one plan share its items."""
    from askwise.cli.stores import plan_path, store_path
    from askwise.loop.plan import make
    from askwise.runs.material import material, read_plan
    from askwise.runs.one import Run

    runs = []
    for path in map(plan_path, plans):
        whole = read_plan(path, overrides=wanted)
        known = material(whole, data_dir=data, folder=path.parent)
        for seed in every:
            one = whole if seed is None else make({**whole.model_dump(), "seed": seed})
            runs.append(Run(one, known, store_path(path, whole, seed=seed), path.parent))
    return runs


def _summary(run: "Run", ended: "Ended") -> dict[str, Any]:
    """How a run ended and its curve, as a script reads them."""
    from askwise.report.past import past
    from askwise.report.summary import of_run
    from askwise.store import open_store, shown

    store = open_store(run.store, access="read")
    try:
        curve = of_run(past(store))
    finally:
        store.close()
    told = {"store": shown(run.store), "seed": run.plan.seed, "budget": run.plan.budget}
    return {**told, **ended.as_json(), **curve}


def _unused(count: int, file: str, run: "Run") -> str:
    """What became of labels that the run has not asked for, and what uses them."""
    from askwise.cli.stores import project_of

    told = f"{count} labels of {file} are of items that were not asked about, and were not used"
    project = project_of(run.store)
    if project is None:
        return told
    return (
        f"{told}; to use them: {command('new', project, '--labels', file)} (with --images, --table, ... as "
        f"when it was made), then: {command('run', project, '--set', 'retrain_after=1')}"
    )


def _line(result: dict[str, Any], run: "Run", ended: "Ended") -> str:
    from askwise.cli.standing import further
    from askwise.cli.stores import project_of
    from askwise.report.wording import total

    last = ""
    if values := result[result["metric"]]:
        labels = total(result["labels"][-1], validation=result["validation"])
        last = f", {result['metric']} {values[-1]:.3f} with {labels}"
    said = result.get("stopped")
    if said is None:
        project = project_of(run.store)
        page = "" if project is None else f" on the page ({command('label', project)}), or"
        file = "--oracle labels.csv (columns id,label)"
        said = f"waits for {result['waits_for']} answers; give them{page} with: {file}"
    elif ended.larger is not None:
        said = f"{said}; {further(run.store, ended.larger)}"
    return f"{result['store']}: seed {result['seed']}{last}: {said}"

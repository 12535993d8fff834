"""`askwise plan`: look at a plan before it runs."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import AsJson, DataDir, Settings, print_json
from askwise.errors import command

app = typer.Typer(help="Look at a plan before it runs.")


@app.command()
def check(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN.toml")],
    data: DataDir = None,
    set_: Settings = None,
    json: AsJson = False,
) -> None:
    """Refuse a plan that cannot run, or print and explain its choices."""
    from askwise.loop.plan import Plan
    from askwise.report.wording import flat
    from askwise.runs.build import check
    from askwise.runs.material import read_plan

    found = read_plan(plan, overrides=set_ or ())
    known = check(found, data_dir=data, folder=plan.parent)
    values = found.model_dump(mode="json")
    if json:
        print_json(values)
        return
    for key, field in Plan.model_fields.items():
        lines = [pair for pair in flat({key: values[key]}) if not pair[0].endswith((".sha256", ".ids"))]
        for place, (name, value) in enumerate(lines):
            typer.echo(f"{name:<28} {value:<24} {field.description if place == 0 else ''}".rstrip())
    if found.unnamed:
        typer.echo(f"{plan} can run when two classes are named: {command('label', plan.parent)}")
        return
    answers = "" if known else " --oracle labels.csv"  # the initial set is chosen by labels
    typer.echo(f"{plan} can run: {command('run', plan)}{answers}")

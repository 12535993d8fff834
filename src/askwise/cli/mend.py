"""`askwise correct`: a label that was wrong."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import command


def correct(
    name: Annotated[Path, typer.Argument(help="The project.", metavar="NAME")],
    item: Annotated[str, typer.Argument(help="The id, row or file name of an item.", metavar="ITEM")],
    label: Annotated[str, typer.Argument(help="A class; or skip, cannot_tell, retract.", metavar="LABEL")],
    annotator: Annotated[str, typer.Option(metavar="WHO", help="Name of the annotator.")] = "",
    json: AsJson = False,
) -> None:
    """Correct what was said of an item; the history keeps both."""
    from askwise.project import open_project
    from askwise.project.mend import correct as corrected

    [found] = corrected(open_project(name), {item: label}, annotator=annotator)
    if json:
        print_json({"id": found.id, "before": found.before, "after": found.after})
        return
    typer.echo(f"{found.id}: {found.before or 'no label'} -> {found.after or 'no label'}")
    if found.before != found.after:
        typer.echo(f"next: {command('run', name)}, so that the model learns it")

"""`askwise labelstudio`: annotations in, predictions out, and a backend that learns while people annotate."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError, choose, command

if TYPE_CHECKING:
    from askwise.bridges.label_studio import Server
    from askwise.oracle.label_studio import Said

app = typer.Typer(help="Work with Label Studio, over HTTP.", no_args_is_help=True, rich_markup_mode=None)
KEY = "LABEL_STUDIO_API_KEY"

Name = Annotated[Path, typer.Argument(help="The project.", metavar="NAME")]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Address of Label Studio; its token is read from $LABEL_STUDIO_API_KEY."
    ),
]
Number = Annotated[
    int | None,
    typer.Option("--project", min=1, metavar="N", help="The number of the project in Label Studio."),
]


@app.command("import")
def import_(
    name: Name,
    file: Annotated[
        Path | None, typer.Argument(help="A JSON export; or --url and --project.", metavar="[FILE]")
    ] = None,
    url: Url = None,
    project: Number = None,
    json: AsJson = False,
) -> None:
    """Take labels from Label Studio into a project; what is known already is not stored again."""
    from askwise.bridges.label_studio import pull
    from askwise.cli.stores import opened_project
    from askwise.oracle.label_studio import matched, read_tasks
    from askwise.oracle.labelling import labelling
    from askwise.project.mend import take_in

    if (file is None) == (url is None):
        raise InputError("name a JSON export of Label Studio, or its --url and --project")
    with opened_project(name) as (ours, plan, _):
        kind = labelling(plan.task, plan.names)
    said = read_tasks(file, kind) if file is not None else pull(_server(url), _number(project), kind)
    told, left_out = _by_annotator(said)
    taken = take_in(ours, told, find=matched)
    left_out |= taken.unmatched
    if json:
        print_json({"labels": taken.labels, "new": taken.new, "left_out": left_out})
        return
    typer.echo(f"{name}: {taken.labels:,} labels, {taken.new:,} of them new")
    _notes(left_out)
    typer.echo(f"next: {command('run', name)}, so that the model learns them")


@app.command()
def push(
    name: Name,
    url: Url = None,
    project: Number = None,
    by: Annotated[
        str, typer.Option(help="The uncertainty that orders its queue: total, epistemic.")
    ] = "total",
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Leave the order of its queue as it is.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Send predictions with scores, so that Label Studio asks about the most uncertain items first."""
    from askwise.bridges.label_studio import BY, push
    from askwise.cli.stores import opened_project
    from askwise.export import pool_for
    from askwise.export.predictions import predictions
    from askwise.loop.featured import feature_folder
    from askwise.oracle.labelling import labelling
    from askwise.runs.trained import last_model

    choose("uncertainty", by, BY)
    server, number = _server(url), _number(project)
    with opened_project(name) as (ours, plan, store):
        trained = last_model(plan, store, folder=ours.folder)
        pool = pool_for(trained.fitted, str(plan.data), cache=feature_folder(store), folder=ours.folder)
        rows = predictions(trained.fitted, pool, draws=trained.draws, seed=trained.seed, progress=not json)
        done = push(
            server,
            number,
            rows,
            pool,
            labelling(plan.task, plan.names),
            model_version=f"askwise-round-{trained.round.number}",
            by=by,
            order=not keep_order,
        )
    if json:
        print_json(
            {"predictions": done.predictions, "unmatched": done.unmatched, "version": done.model_version}
        )
        return
    typer.echo(f"{name}: {done.predictions:,} predictions of {done.model_version} are in Label Studio")
    _notes(done.unmatched)


@app.command()
def backend(
    name: Name,
    host: Annotated[str, typer.Option(help="Where to listen, on this machine.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="By default the first free one.")] = None,
) -> None:
    """Serve an ML backend: it guesses what Label Studio shows, and learns from every annotation there."""
    from askwise.project import open_project
    from askwise.web.serve import serve_backend

    serve_backend(open_project(name), host=host, port=port, say=typer.echo)


def _server(url: str | None) -> "Server":
    from askwise.bridges.label_studio import Server

    if url is None:
        raise InputError("say where Label Studio is: --url http://127.0.0.1:8080")
    return Server(url, os.environ.get(KEY, ""))


def _number(project: int | None) -> int:
    if project is None:
        raise InputError("say which project of Label Studio: --project N, the number in its address")
    return project


def _by_annotator(said: "list[Said]") -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The labels by who gave them and what the tasks call the items, and why others are left out."""
    found: dict[str, dict[str, Any]] = {}
    for one in said:
        if one.told is not None:
            found.setdefault(one.annotator or "label-studio", {})[one.called] = one.told
    return found, {one.task: one.problem for one in said if one.told is None}


def _notes(left_out: dict[str, str]) -> None:
    for task, why in list(left_out.items())[:5]:
        typer.echo(f"askwise: note: {why if why.startswith(task) else f'{task}: {why}'}", err=True)
    if len(left_out) > 5:
        typer.echo(f"askwise: note: and {len(left_out) - 5} more", err=True)

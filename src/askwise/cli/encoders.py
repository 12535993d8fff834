"""`askwise encoders`: the networks that turn photos and texts into features."""

from pathlib import Path
from typing import Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json


def encoders(
    name: Annotated[
        Path | None,
        typer.Argument(help="A project: compare them by its labels.", metavar="[NAME]", show_default=False),
    ] = None,
    speed: Annotated[
        bool, typer.Option(help="Measure how many items each encodes in a second on one thread.")
    ] = True,
    json: AsJson = False,
) -> None:
    """List encoders with size, licence and speed, or compare them.

    From 50 labels on it compares those that are installed by the project's own labels: each time
    a fifth of them is left out, and told by the rest.
    """
    from askwise.encoders import known

    if name is not None:
        _compare(name, json)
        return

    rows: dict[str, dict[str, Any]] = {}
    for record in known():
        rows[record.name] = {
            "takes": record.takes,
            "size": record.size,
            "features": record.width,
            "bytes": record.bytes,
            "licence": record.licence,
            "where": None if record.place is None else str(record.place),
            "install": record.install,
            "items_per_second": _speed(record.name) if speed and record.place is not None else None,
        }
        if not json:
            typer.echo(_line(record.line(), rows[record.name]))
    if json:
        print_json(rows)


def _compare(name: Path, json: bool) -> None:
    from askwise.project import open_project
    from askwise.project.compare import compared
    from askwise.runs.material import read_plan

    project = open_project(name)
    found, told = compared(project)
    now = read_plan(project.plan).encoder
    if json:
        print_json({"encoders": {one.encoder: one.right / one.labels for one in found}, "verdict": told.said})
        return
    for one in found:
        low, high = (100 * share for share in one.interval)
        mark = " (the project's)" if one.encoder == now else ""
        typer.echo(
            f"{one.encoder}{mark}: tells {100 * one.right / one.labels:.0f} % of {one.labels} labels right "
            f"when they are left out ({low:.0f} to {high:.0f} %); one class for all: {100 * one.chance:.0f} %"
        )
    typer.echo(told.said)


def _line(about: str, row: dict[str, Any]) -> str:
    if row["where"] is None:
        return f"{about}; not installed: {row['install']}"
    rate = row["items_per_second"]
    return f"{about}{'' if rate is None else f'; {rate:.0f} items a second'}; {row['where']}"


def _speed(name: str) -> float | None:
    import torch

    from askwise.encoders import items_per_second, load

    encoder, threads = load(name), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return None if encoder is None else round(items_per_second(encoder), 1)
    finally:
        torch.set_num_threads(threads)

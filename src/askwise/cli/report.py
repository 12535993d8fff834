"""`askwise report`: what runs came to, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import DataDir


def report(
    of: Annotated[
        list[str],
        typer.Argument(
            help="Projects, plans, stores, or folders of stores: curves of all, details of the first.",
            metavar="NAME|PLAN|STORE...",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The page; by default in the exports of a project, beside another store, "
            "and report.html here of several.",
        ),
    ] = None,
    data: DataDir = None,
) -> None:
    """Write one self-contained HTML page about runs."""
    from askwise.cli.stores import items, opened, page_of
    from askwise.report import write
    from askwise.report.assemble import assemble
    from askwise.report.past import past

    with opened(of) as stores:
        pool, why = items(past(stores[0]).plan, data)
        content = assemble(stores, pool=pool)
        path = out or page_of(stores)
    typer.echo(f"report: {write(content, path)}")
    if pool is None:
        typer.echo(f"askwise: without pictures: {why}", err=True)

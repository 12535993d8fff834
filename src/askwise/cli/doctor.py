"""`askwise doctor`: what of the machine and of stores is at risk."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import AsJson, print_json


def doctor(
    of: Annotated[
        list[str] | None, typer.Argument(help="Stores or plans to look at, too.", metavar="[STORE|PLAN...]")
    ] = None,
    json: AsJson = False,
) -> None:
    """Say what is at risk here and in your stores.

    The exit code is 0 unless something is broken.
    """
    from askwise.cli import checks
    from askwise.cli.stores import paths

    stores = paths(of or [])
    files = [path for path in stores if isinstance(path, Path) and path.parent.is_dir()]
    folder = files[0].parent if files else Path()
    found = [*checks.machine(folder), *(finding for path in stores for finding in checks.store(path))]
    broken = any(finding.state == "broken" for finding in found)
    if json:
        print_json({"broken": broken, "findings": [asdict(finding) for finding in found]})
    else:
        for finding in found:
            typer.echo(f"{finding.state:<7} {finding.what:<20} {finding.said}")
    if broken:
        raise typer.Exit(1)

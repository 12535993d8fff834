"""`askwise doctor`: checks of the machine and of stores."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askwise.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from askwise.cli.checks import Finding


def doctor(
    of: Annotated[
        list[str] | None, typer.Argument(help="Stores or plans to check, too.", metavar="[STORE|PLAN...]")
    ] = None,
    json: AsJson = False,
) -> None:
    """Say what is at risk here and in your stores.

    The exit code is 0 unless something is broken.
    """
    from askwise.cli import checks
    from askwise.cli.stores import paths
    from askwise.store import shown

    stores = paths(of or [])
    files = [path for path in stores if isinstance(path, Path) and path.parent.is_dir()]
    folder = files[0].parent if files else Path()
    here = list(checks.machine(folder))
    kept = [(shown(path), list(checks.store(path))) for path in stores]
    found = [*here, *(finding for _, own in kept for finding in own)]
    broken = any(finding.state == "broken" for finding in found)
    if json:
        print_json({"broken": broken, "findings": [asdict(finding) for finding in found]})
    else:
        for state, what, said in [*map(_row, here), *(row for name, own in kept for row in _rows(name, own))]:
            typer.echo(f"{state:<7} {what:<10} {said}")
        todo = sum(finding.state != "ok" for finding in found)
        typer.echo("nothing to do" if not todo else f"{todo} to look at: the lines that do not begin with ok")
    if broken:
        raise typer.Exit(1)


def _row(finding: "Finding") -> tuple[str, str, str]:
    return finding.state, finding.what, finding.said


def _rows(name: str, found: "list[Finding]") -> list[tuple[str, str, str]]:
    """What is not fine of a store, line by line; one line where everything is."""
    wrong = [_row(finding) for finding in found if finding.state != "ok"]
    about = next((finding.said for finding in found if finding.what == "store"), "")
    fine = ", ".join(finding.what for finding in found if finding.what != "store")
    return wrong or [("ok", "store", f"{name}: {about}; looked at: {fine}")]

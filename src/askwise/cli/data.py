"""`askwise data`: the data sets that are known by name."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.cli.options import AsJson, DataDir, print_json
from askwise.errors import AskwiseError

_WIDTH = 30  # of the longest name
app = typer.Typer(help="List and fetch the data sets that askwise knows by name.")


@app.command("list")
def list_(data: DataDir = None, json: AsJson = False) -> None:
    """Say which data sets there are, and which of them are here."""
    from askwise.data import NAMES
    from askwise.data.catalogue import missing

    found = {name: place(name, data) for name in NAMES}
    if json:
        print_json({name: {"here": where is not None, "where": where} for name, where in found.items()})
        return
    for name, where in found.items():
        typer.echo(f"{name:<{_WIDTH}} {where or f'not here; {missing(name)}'}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="mnist, fashion_mnist or cifar10.")],
    data: DataDir = None,
) -> None:
    """Download a data set, check it, and keep it in the cache or in DIR."""
    from askwise.data import fetch as fetch_data

    typer.echo(f"{name} is in {fetch_data(name, data_dir=data)}")


def place(name: str, data: Path | None) -> str | None:
    """Where a data set is; none where it is not, or not whole."""
    from askwise.data.catalogue import STORED
    from askwise.data.places import locate

    if name not in STORED:
        return "inside scikit-learn"
    try:
        return str(locate(name, STORED[name].digests, data_dir=data))
    except AskwiseError:
        return None

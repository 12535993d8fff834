"""`askwise store`: what can be done for a store itself."""

from typing import Annotated

import typer

from askwise.cli.options import AsJson, print_json

app = typer.Typer(help="Repair stores.", no_args_is_help=True)


@app.callback()
def care() -> None:
    """Repair stores; `askwise doctor STORE` says whether one is damaged."""


@app.command()
def recover(
    damaged: Annotated[str, typer.Argument(help="The damaged store.", metavar="STORE")],
    new: Annotated[str, typer.Argument(help="The new store, for what can be saved.", metavar="NEW")],
    json: AsJson = False,
) -> None:
    """Save everything that is sound in a damaged store into a new one, and name what is lost.

    The damaged store stays as it is. Models are kept beside a store: copy STORE.checkpoints to
    NEW.checkpoints, or let the last one be trained again.
    """
    from askwise.store import place, shown
    from askwise.store.sql.care import recover as save

    found = save(place(damaged), place(new))
    if json:
        print_json({"store": shown(place(new)), "saved": found.saved, "lost": found.lost})
        return
    saved = ", ".join(f"{count:,} {kind}" for kind, count in found.saved.items())
    typer.echo(f"{shown(place(new))}: saved {saved or 'nothing'}")
    for line in found.lost or ["nothing"]:
        typer.echo(f"lost  {line}")

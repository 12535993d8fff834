"""`askwise find`: items like others, or of a class by what the model thinks."""

from typing import Annotated

import typer

from askwise.cli.options import AsJson, DataDir, print_json
from askwise.cli.trust import Name, opened
from askwise.errors import InputError


def find(
    name: Name,
    like: Annotated[
        list[str] | None, typer.Option(metavar="ITEM", help="An id, a row or a file name; may be repeated.")
    ] = None,
    class_: Annotated[
        str | None,
        typer.Option("--class", metavar="CLASS", help="A class: list the items that the model puts into it."),
    ] = None,
    unsure: Annotated[
        bool, typer.Option("--unsure", help="List the least certain items of the class first.")
    ] = False,
    count: Annotated[int, typer.Option(min=1, help="How many to list at most.")] = 20,
    data: DataDir = None,
    json: AsJson = False,
) -> None:
    """Find items like others, or that the model gives a class.

    Items that are kept for testing are not among them.
    """
    if bool(like) == bool(class_):
        raise InputError("say what to find: --like ITEM, or --class CLASS")
    with opened(name, data, None) as (ours, _, known, _, _):
        if class_:
            found = ours.finder.of_class(class_, unsure=unsure, count=count)
        else:
            items = [known.pool.typed(one) for one in like or ()]
            found = ours.finder.alike(items, count=count)
        names = [known.pool.name(one) for one in found.ids]
    if json:
        rows = zip(found.ids, names, found.scores, strict=True)
        shown = [{"id": one, "name": named, "score": score} for one, named, score in rows]
        print_json({"found": shown, "looked_at": found.looked_at})
        return
    for one, named, score in zip(found.ids, names, found.scores, strict=True):
        typer.echo(f"  {score:.3f}  {one}" + (f"  {named}" if named != one else ""))
    typer.echo(f"{len(found.ids)} of {found.looked_at:,} items that were looked at")

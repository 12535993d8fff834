"""`askwise classes`: the classes or tags of a project, and every change of them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError, command

if TYPE_CHECKING:
    from askwise.project import Project
    from askwise.store.contract import Store


class Edit(StrEnum):
    """What can be done to a class."""

    ADD = "add"
    RENAME = "rename"
    MERGE = "merge"
    SPLIT = "split"
    RETIRE = "retire"
    PARENT = "parent"


_WANTED: dict[Edit, tuple[int, int, str]] = {
    Edit.ADD: (1, 1, "add NEW"),
    Edit.RENAME: (2, 2, "rename OLD NEW"),
    Edit.MERGE: (2, 2, "merge OLD INTO"),
    Edit.SPLIT: (3, 51, "split OLD PART PART ..."),
    Edit.RETIRE: (1, 1, "retire OLD"),
    Edit.PARENT: (1, 2, "parent CLASS [HEADING]"),
}
"""How few and how many names an edit takes, and how it is written."""


def classes(
    name: Annotated[Path, typer.Argument(help="The project.", metavar="NAME")],
    edit: Annotated[
        Edit | None,
        typer.Argument(help="What to change; leave it out to list the classes.", metavar="[EDIT]"),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="The names of the classes, as the edit needs them.", metavar="[NAMES]"),
    ] = None,
    json: AsJson = False,
) -> None:
    """List the classes, or change them; labels follow.

    Only what has to be is asked again.

    add NEW; rename OLD NEW; merge OLD INTO (labels of OLD count for INTO); split OLD PART PART ... (its items
    are asked again, new parts are added); retire OLD (its items return to the pool); parent CLASS HEADING
    (two levels; without a heading it stands alone).
    """
    from askwise.project import open_project
    from askwise.project.classes import edit_classes
    from askwise.store import open_store

    project, given = open_project(name), words or []
    store = open_store(project.place, access="read" if edit is None else "answer")
    try:
        if edit is not None:
            least, most, written = _WANTED[edit]
            if not least <= len(given) <= most:
                raise InputError(f"that is written: {command('classes', name)} {written}")
            before = store.places()
            edit_classes(project, store, edit.value, given[0], given[1:])
            after = store.places()
            if not json:
                again = before.labelled - after.labelled
                typer.echo(f"{name}: {_said(edit, given)}; {again} items are to be asked again")
                return
        rows = _rows(project, store)
    finally:
        store.close()
    if json:
        print_json({"classes": rows})
        return
    for row in rows:
        under = f" ({row['parent']})" if row["parent"] else ""
        gone = "" if row["in_use"] else f"  no longer in use{_became(row['into'])}"
        typer.echo(f"{row['labels']:>7,}  {row['name']}{under}{gone}")


def _said(edit: Edit, names: list[str]) -> str:
    first, rest = names[0], ", ".join(names[1:])
    return {
        Edit.ADD: f"{first} is a new class",
        Edit.RENAME: f"{first} is called {rest} now",
        Edit.MERGE: f"the labels of {first} count for {rest}",
        Edit.SPLIT: f"{first} has become {rest}",
        Edit.RETIRE: f"{first} is no longer in use",
        Edit.PARENT: f"{first} stands under {rest}" if rest else f"{first} stands alone",
    }[edit]


def _became(into: list[str]) -> str:
    return f", now {' or '.join(into)}" if into else ""


def _rows(project: "Project", store: "Store") -> list[dict[str, Any]]:
    """Every class with its labels as they count by now."""
    from collections import Counter

    from askwise.runs.material import read_plan
    from askwise.store.classes import edited
    from askwise.store.facts import ClassEdit
    from askwise.store.labels import Tags
    from askwise.store.ledger import Ledger

    known = edited(store.facts(ClassEdit))
    names = known.names or list(read_plan(project.plan).names)
    count: Counter[int] = Counter()
    for label in Ledger(store).labels.values():
        count.update(label.tags if isinstance(label, Tags) else [label] if isinstance(label, int) else [])
    return [
        {
            "name": name,
            "labels": count[number],
            "parent": known.parents.get(number),
            "in_use": number not in known.into,
            "into": [names[one] for one in known.into.get(number, ())],
        }
        for number, name in enumerate(names)
    ]

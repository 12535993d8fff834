"""`askwise new`: a project from a folder of photos, a file of texts, a table, arrays or features."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from askwise.project.create import Made


def new(
    name: Annotated[Path, typer.Argument(help="The folder of the project.", metavar="NAME")],
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of pictures.")] = None,
    text: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR", help="Texts: a column of a CSV, TSV, JSONL or Parquet file, .txt files."
        ),
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of numbers and categories.")
    ] = None,
    arrays: Annotated[Path | None, typer.Option(metavar="FILE.npy", help="One item for each row.")] = None,
    features: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Features made elsewhere: .npy, or lists in JSONL or Parquet."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="C", help="The column of the texts, or of the features.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(metavar="C", help="The column of the ids; by default the content decides.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="C", help="A column of the table to leave out; repeatable.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="What an item can be; known labels name them, too.")
    ] = None,
    tags: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Instead of classes: what an item can have.")
    ] = None,
    number: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of classes: a number to be told of it.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Known labels: a file with the columns id and label.")
    ] = None,
    labels_from_folders: Annotated[
        bool, typer.Option("--labels-from-folders", help="Known labels: the folders that pictures are in.")
    ] = False,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS=ITEM", help="An item of a class, e.g. cat=cat1.jpg; repeatable."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What makes features: a name (askwise encoders), folder, module:attr, none."
        ),
    ] = None,
    acquire: Annotated[str | None, typer.Option(metavar="NAME", help="The score of an item.")] = None,
    posterior: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where the uncertainty comes from.")
    ] = None,
    fine_tune: Annotated[
        int | None,
        typer.Option(
            metavar="EPOCHS",
            min=1,
            help="Let the encoder of pictures learn, too, in every round; it is slow.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="C", help="A column of groups (patient, slide, outlet) to be tested on as a whole."
        ),
    ] = None,
    ask_copies: Annotated[
        bool, typer.Option("--ask-copies", help="Ask about copies and near copies of an item, too.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Make a project of your own data, or add to it.

    Run again, it adds what is new and changes nothing else.
    """
    from askwise.errors import InputError
    from askwise.project.create import create
    from askwise.project.sources import source

    given = {"images": images, "text": text, "table": table, "arrays": arrays, "features": features}
    named = {kind: path for kind, path in given.items() if path is not None}
    if len(named) != 1:
        raise InputError(f"name one of --{', --'.join(given)}, not {' and '.join(named) or 'none'}")
    if labels is not None and labels_from_folders:
        raise InputError("--labels and --labels-from-folders both name labels; choose one")
    [(kind, path)] = named.items()
    if labels_from_folders and kind != "images":
        raise InputError(f"--labels-from-folders goes with --images, not with --{kind}")
    wanted = {"classes": classes, "tags": tags, "numbers": number}
    [*words] = [word for word, value in wanted.items() if value is not None]
    if len(words) > 1:
        raise InputError(f"an item has {' or '.join(words)}, not all of them; choose one")
    made_of = words[0] if words else "classes"
    if made_of != "classes" and (labels_from_folders or example):
        raise InputError(
            f"folders and examples name classes, not {made_of}; give known ones by --labels FILE"
        )
    if group is not None and kind not in ("text", "table", "features"):
        raise InputError(f"--group names a column, and goes with --text, --table or --features, not --{kind}")
    left_out = [*(ignore or ()), *([group] if group is not None and kind == "table" else [])]
    items = source(kind, path, column=column, id_column=id_column, ignore=left_out, encoder=encoder)
    chosen = {"acquire": acquire, "posterior": posterior, "group": group, "fine_tune": fine_tune}
    made = create(
        name,
        items,
        names=None if not words else _names(wanted[made_of] or ""),
        made_of=made_of,
        labels=labels,
        folders=labels_from_folders,
        examples=[_example(text) for text in example or ()],
        ask_copies=ask_copies,
        chosen={key: value for key, value in chosen.items() if value is not None},
        tell=(lambda _: None) if json else lambda lines: typer.echo("\n".join(lines)),
        progress=not json,
    )
    if json:
        print_json(_values(made))
        return
    for line in _lines(made):
        typer.echo(line)


def _names(text: str) -> list[str]:
    """Names between commas; quotes hold one together that has a comma itself."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _example(text: str) -> tuple[str, str]:
    """A class and an item; the class may not hold the sign between them, the item may."""
    from askwise.errors import InputError

    name, sign, item = text.partition("=")
    if not (name.strip() and sign and item.strip()):
        raise InputError(f"an example is written CLASS=ITEM, e.g. cat=cat1.jpg; not {text!r}")
    return name.strip(), item.strip()


def _values(made: "Made") -> dict[str, Any]:
    copies = made.found.copies
    return {
        "project": made.project.name,
        "items": made.found.items,
        "new": made.found.items - made.before,
        "refused": made.found.refused,
        "exact_copies": None if copies is None else [list(group) for group in copies.exact],
        "copies": None if copies is None else [list(group) for group in copies.groups],
        "encoder": None if made.encoder is None else made.encoder.record.name,
        "licence": None if made.encoder is None else made.encoder.record.licence,
        **{word: list(getattr(made.plan, word)) for word in ("classes", "tags", "numbers")},
        "labels": made.labelled,
        "new_labels": made.labels,
        "notes": made.notes,
    }


def _lines(made: "Made") -> list[str]:
    name, plan = made.project.name, made.plan
    head = f"{name}: " + ("a new project" if not made.before else _grown(made))
    encoder = "none" if made.encoder is None else made.encoder.record.line()
    word = {"multilabel": "tags", "regression": "numbers"}.get(plan.kind, "classes")
    first = "" if plan.initial_select is None else f", by {plan.initial_select}"
    file = f"            askwise run {name} --oracle labels.csv   answers from a file (columns id,label)"
    lines = [
        head,
        f"{word:<12}{', '.join(plan.names) or 'none yet: name them on the page with +, as you meet them'}",
        f"labels      {made.labelled:,}" + (f", {made.labels:,} of them new" if made.labels else ""),
        f"encoder     {encoder}",
        f"learns      {_learns(made)}",
        f"asks        first {plan.initial.count} items{first}, then by {plan.acquire}",
        *(f"note        {note}" for note in made.notes),
        f"next        askwise label {name}                     answer questions on a page",
        *([] if plan.unnamed else [file]),
        f"            askwise status {name}                    how far it is",
    ]
    return [line.rstrip() for line in lines]


def _learns(made: "Made") -> str:
    """What is trained, in one line."""
    plan = made.plan
    how = f"uncertainty by {plan.posterior['name']}"
    if made.encoder is None:
        if plan.network == "on_axes":
            return f"one layer on the principal axes of the features; {how}"
        return f"a small network ({plan.network}) from scratch; {how}"
    name = made.encoder.record.name
    if plan.thaw:
        return f"{name} itself for {plan.thaw} epochs in every round, then the last layer; {how}"
    return f"one layer on the principal axes of {name}'s features, which stay as they are; {how}"


def _grown(made: "Made") -> str:
    more = made.found.items - made.before
    return f"{more:,} new items" if more > 0 else "nothing new" if not made.labels else "new labels"

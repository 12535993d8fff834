"""`askwise new`: a project from a folder of photos, a file of texts, a table, arrays or features."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli.options import AsJson, print_json
from askwise.errors import InputError, command

if TYPE_CHECKING:
    from askwise.project.create import Made


Name = Annotated[Path, typer.Argument(help="The folder of the project.", metavar="NAME")]
Images = Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of pictures.")]
Text = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|DIR", help="Texts: a column of a CSV, TSV, JSONL or Parquet file, .txt files."
    ),
]
Table = Annotated[Path | None, typer.Option(metavar="FILE", help="A table of numbers and categories.")]
Arrays = Annotated[Path | None, typer.Option(metavar="FILE.npy", help="One item for each row.")]
Features = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Features made elsewhere: .npy, or lists in JSONL or Parquet."),
]
Column = Annotated[str | None, typer.Option(metavar="C", help="The column of the texts, or of the features.")]
IdColumn = Annotated[
    str | None,
    typer.Option(metavar="C", help="The column of the ids; by default ids are made from the content."),
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="C", help="A column of the table to leave out; repeatable.")
]
Stack = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="What becomes of stacks: max, mean, channels, or a page from 0."),
]
Classes = Annotated[
    str | None, typer.Option(metavar="A,B,C", help="Names of the classes; known labels can name them, too.")
]
Tags = Annotated[
    str | None,
    typer.Option(metavar="A,B,C", help="Names of tags, instead of classes: an item can have several."),
]
Number = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of a number to predict, instead of classes.")
]
Labels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Known labels: a file with the columns id and label.")
]
FromFolders = Annotated[
    bool, typer.Option("--labels-from-folders", help="Known labels: the folders that pictures are in.")
]
Examples = Annotated[
    list[str] | None,
    typer.Option(metavar="CLASS=ITEM", help="An item of a class, e.g. cat=cat1.jpg; repeatable."),
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="What makes features: a name (askwise encoders), folder, module:attr, none."
    ),
]
Acquire = Annotated[str | None, typer.Option(metavar="NAME", help="The score of an item.")]
Posterior = Annotated[str | None, typer.Option(metavar="NAME", help="Where the uncertainty comes from.")]
FineTune = Annotated[
    int | None,
    typer.Option(
        metavar="EPOCHS", min=1, help="Let the encoder of pictures learn, too, in every round; it is slow."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(metavar="C", help="A column of groups (patient, slide, outlet) to be tested on as a whole."),
]
AskCopies = Annotated[
    bool, typer.Option("--ask-copies", help="Ask about copies and near copies of an item, too.")
]


def new(
    name: Name,
    images: Images = None,
    text: Text = None,
    table: Table = None,
    arrays: Arrays = None,
    features: Features = None,
    column: Column = None,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    stack: Stack = None,
    classes: Classes = None,
    tags: Tags = None,
    number: Number = None,
    labels: Labels = None,
    labels_from_folders: FromFolders = False,
    example: Examples = None,
    encoder: EncoderName = None,
    acquire: Acquire = None,
    posterior: Posterior = None,
    fine_tune: FineTune = None,
    group: Group = None,
    ask_copies: AskCopies = False,
    json: AsJson = False,
) -> None:
    """Make a project of your own data, or add to it.

    Run again, it adds what is new and changes nothing else.
    """
    from askwise.project.create import create
    from askwise.project.sources import source

    kind, path = _items(images=images, text=text, table=table, arrays=arrays, features=features)
    made_of, names = _label_names(classes=classes, tags=tags, numbers=number)
    _refuse_labels(kind, made_of, labels=labels, folders=labels_from_folders, examples=example)
    if group is not None and kind not in ("text", "table", "features"):
        raise InputError(f"--group names a column, and goes with --text, --table or --features, not --{kind}")
    left_out = [*(ignore or ()), *([group] if group is not None and kind == "table" else [])]
    how: dict[str, Any] = {"column": column, "id_column": id_column, "ignore": left_out, "stack": stack}
    items = source(kind, path, encoder=encoder, **how)
    chosen = {"acquire": acquire, "posterior": posterior, "group": group, "fine_tune": fine_tune}
    made = create(
        name,
        items,
        names=names,
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


def _items(**given: Path | None) -> tuple[str, Path]:
    """The kind of the items and where they are: exactly one option names them."""
    named = {kind: path for kind, path in given.items() if path is not None}
    if len(named) != 1:
        raise InputError(f"name one of --{', --'.join(given)}, not {' and '.join(named) or 'none'}")
    [found] = named.items()
    return found


def _refuse_labels(
    kind: str, made_of: str, *, labels: Path | None, folders: bool, examples: list[str] | None
) -> None:
    """Refuse known labels that do not go with each other, with the items or with what labels are."""
    if labels is not None and folders:
        raise InputError("--labels and --labels-from-folders both name labels; choose one")
    if folders and kind != "images":
        raise InputError(f"--labels-from-folders goes with --images, not with --{kind}")
    if made_of != "classes" and (folders or examples):
        raise InputError(
            f"folders and examples name classes, not {made_of}; give known ones by --labels FILE"
        )


def _label_names(**given: str | None) -> tuple[str, list[str] | None]:
    """What labels are made of, and its names; at most one option names them."""
    named = {word: text for word, text in given.items() if text is not None}
    if len(named) > 1:
        raise InputError(f"an item has {' or '.join(named)}, not all of them; choose one")
    for word, text in named.items():
        return word, _names(text)
    return "classes", None


def _names(text: str) -> list[str]:
    """Names between commas; quotes hold one together that has a comma itself."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _example(text: str) -> tuple[str, str]:
    """A class and an item; the class may not hold the sign between them, the item may."""
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
    names = ", ".join(plan.names) or "none yet: name them on the page with +, as you meet them"
    first = "" if plan.initial_select is None else f", by {plan.initial_select}"
    run = command("run", name, "--oracle", "labels.csv")
    lines = [
        head,
        f"{plan.made_of:<12}{names}",
        f"labels      {made.labelled:,}" + (f", {made.labels:,} of them new" if made.labels else ""),
        f"encoder     {encoder}",
        f"learns      {_learns(made)}",
        f"asks        first {plan.initial.count} items{first}, then by {plan.acquire}",
        *(f"note        {note}" for note in made.notes),
        f"next        {command('label', name)}                     answer questions on a page",
        *([] if plan.unnamed else [f"            {run}   answers from a file (columns id,label)"]),
        f"            {command('status', name)}                    how far it is",
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

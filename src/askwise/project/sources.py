"""What a project is made of: the items a person names, and the labels known of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from askwise import encoders
from askwise.encoders import PICTURES, ROWS, TEXTS
from askwise.errors import InputError
from askwise.oracle import File
from askwise.oracle.file import EXPORT, ID_COLUMNS, LABEL_COLUMNS
from askwise.oracle.label_studio import named_in
from askwise.oracle.labelling import labelling
from askwise.pool import Coding, Pool, coding_of
from askwise.pool.coding import Category, ColumnError, Number, number
from askwise.pool.tables import header, rows
from askwise.store.classes import position

NONE = "none"
TASKS = {"classes": "classification", "tags": "multilabel", "numbers": "regression"}
"""What a label is made of, and the task that is."""
_MANY = 20  # categories of a column: more are told
_BYTES = 1 / 255  # pixels that are bytes become numbers from 0 to 1
_SIDE = 32  # pixels at each side, for a small network that learns from the pictures themselves


@dataclass(frozen=True)
class Source:
    """The items that a person named: where they are, what they are, and how they are read."""

    kind: str
    """`images`, `text`, `table`, `arrays` or `features`."""
    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    """As a plan's `data_options` has them."""
    encoder: str = NONE
    coding: Coding | None = None
    """What the columns of a table become; fixed with the project."""

    @property
    def takes(self) -> str:
        """What kind of encoder these items want."""
        return {"images": PICTURES, "text": TEXTS}.get(self.kind, ROWS)


def source(
    kind: str,
    path: Path,
    *,
    column: str | None = None,
    id_column: str | None = None,
    ignore: Sequence[str] = (),
    stack: str | None = None,
    encoder: str | None = None,
) -> Source:
    """The items in a folder or file; what does not fit their kind is refused."""
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}; nothing was made")
    found = path.resolve()
    _refuse_misplaced(kind, column=column, id_column=id_column, ignore=ignore, stack=stack)
    takes = {"images": PICTURES, "text": TEXTS}.get(kind)
    chosen = encoder or (encoders.default(takes) if takes else NONE)
    options: dict[str, Any] = {}
    coding = None
    if kind == "images" and chosen == NONE:
        options = {"size": _SIDE, "channels": 3, **_stacked(stack)}
    elif kind == "images":
        options = _stacked(stack)
    elif kind == "text" and chosen == NONE:
        install = next(record.install for record in encoders.known() if record.takes == TEXTS)
        raise InputError(f"texts need an encoder, and none is installed; get one with: {install}")
    elif kind == "text" and found.is_file():
        options = {"column": _column(found, column), **_named(id_column)}
    elif kind == "table":
        options = {"ignore": list(ignore), **_named(id_column)}
        left_out = [*ignore, *([id_column] if id_column else [])]
        try:
            coding = coding_of(found, ignore=left_out)
        except ColumnError as error:
            own = id_column is None and error.column.strip().lower() in ID_COLUMNS
            ids = f", or say that it names the items: --id-column {error.column!r}" if own else ""
            raise InputError(f"{path}: {error.advice(f'--ignore {error.column!r}')}{ids}") from None
    elif kind == "features" and found.suffix.lower() in (".csv", ".tsv"):
        raise InputError(f"{path} has no lists; give its columns of numbers by --table")
    elif kind == "arrays" and _is_bytes(found):
        options = {"scale": _BYTES}
    elif kind == "features" and found.suffix.lower() != ".npy":
        options = {"embedding": column or "embedding", **_named(id_column)}
    return Source(kind, found, options, chosen, coding)


def column_notes(source: Source) -> list[str]:
    """Which columns of a table were read with decimal commas, and which as many categories."""
    parts = () if source.coding is None else source.coding.columns
    many = [
        f"column {part.column!r} is read as {len(part.values)} categories, for its values are no numbers, "
        f"such as {next(filter(_is_word, part.values), part.values[0])[:40]!r}"
        for part in parts
        if isinstance(part, Category) and len(part.values) > _MANY
    ]
    found = [part.column for part in parts if isinstance(part, Number) and part.comma]
    return [f"commas are read as decimal commas in the columns {', '.join(found)}", *many] if found else many


def known_labels(
    pool: Pool,
    labels: Path | None,
    *,
    folders: bool = False,
    examples: Sequence[tuple[str, str]] = (),
    names: Sequence[str] | None = None,
    made_of: str = "classes",
) -> tuple[Mapping[str, Any], list[str], list[str]]:
    """The labels that are known of items, their names, and what a person should know of the labels.

    `names` are those of classes, tags or numbers. Without them they are the classes that the labels name,
    in the order of the alphabet, or the examples in theirs; none where nothing names any.
    """
    if examples:
        shown = list(dict.fromkeys(name for name, _ in examples))
        found_in = known_labels(
            pool, labels, folders=folders, names=names or (None if labels or folders else shown)
        )
        return _with_examples(pool, examples, *found_in)
    notes: list[str] = []
    if folders:
        found = {name: pool.name(name).rpartition("/")[0].rpartition("/")[2] for name in pool.ids}
        own = list(names) if names else sorted({label for label in found.values() if label})
        told: Mapping[str, Any] = {name: label for name, label in found.items() if label in own}
        if not told:
            raise InputError("--labels-from-folders: no picture lies in a folder that is called as a class")
    elif labels is not None:
        own = list(names) if names else _named_in(labels)
        kind = labelling({"name": TASKS[made_of]}, _checked(own))
        file = File(labels, classes=kind, find=pool.find)
        told, notes = file.told, file.notes()
    elif names is None and made_of == "classes":
        return {}, [], notes
    else:
        own, told = list(names or ()), {}
    return told, list(_checked(own)), notes


def _with_examples(
    pool: Pool,
    examples: Sequence[tuple[str, str]],
    told: Mapping[str, Any],
    classes: list[str],
    notes: list[str],
) -> tuple[Mapping[str, Any], list[str], list[str]]:
    """The same with an item for each example; what names no class or no item is refused."""
    found = dict(told)
    for name, item in examples:
        identity, label = pool.find(item), classes[position(name, classes, what=f"the example {item!r}")]
        if found.setdefault(identity, label) != label:
            raise InputError(
                f"item {item!r} is an example of {label!r}, and {found[identity]!r} elsewhere; choose"
            )
    return found, classes, notes


def _checked(classes: Sequence[str]) -> Sequence[str]:
    if not classes:
        raise InputError(
            "name the classes: --classes cat,dog,bird; or leave it out, and name them on the page"
        )
    odd = next((name for name in classes if not name.isprintable()), None)
    if odd is not None:
        raise InputError(f"class {odd!r} holds letters that cannot be shown; give it another name")
    return classes


def _named_in(labels: Path) -> list[str]:
    """The classes that a file of labels names."""
    if labels.suffix.lower() == EXPORT:
        return named_in(labels)
    names = header(labels)
    label = next((name for name in names if name.strip().lower() in LABEL_COLUMNS), None)
    if label is None:
        raise InputError(
            f"{labels} has no column of labels; call it 'label' (and the items' {ID_COLUMNS[0]!r})"
        )
    found = {row.cells[0].strip() for row in rows(labels, [label]) if row.reason is None}
    return sorted(found - {"", "skip", "cannot_tell"})


def _is_word(cell: str) -> bool:
    """Whether a cell is no number and not missing."""
    return math.isnan(number(cell) or 0.0)


def _stacked(stack: str | None) -> dict[str, str | int]:
    """What becomes of pictures with several pages; a number is a page."""
    return {} if stack is None else {"stack": int(stack) if stack.isdecimal() else stack}


def _refuse_misplaced(
    kind: str, *, column: str | None, id_column: str | None, ignore: Sequence[str], stack: str | None
) -> None:
    for option, given, fits in (
        ("--column", column, ("text", "features")),
        ("--id-column", id_column, ("text", "table", "features")),
        ("--ignore", ignore, ("table",)),
        ("--stack", stack, ("images",)),
    ):
        if given and kind not in fits:
            wanted = " or ".join(f"--{name}" for name in fits)
            raise InputError(f"{option} goes with {wanted}, not with --{kind}")


def _named(id_column: str | None) -> dict[str, str]:
    return {"id_column": id_column} if id_column else {}


def _column(path: Path, column: str | None) -> str:
    names = header(path)
    if column is None and len(names) > 1 and "text" not in names:
        raise InputError(f"say which column of {path} holds the texts: --column, one of: {', '.join(names)}")
    return column or ("text" if "text" in names else names[0])


def _is_bytes(path: Path) -> bool:
    try:
        return bool(np.load(path, mmap_mode="r", allow_pickle=False).dtype == np.uint8)
    except (OSError, ValueError, EOFError, AttributeError):
        return False  # the pool says what is wrong with it

"""The labels of a project as files that other tools read, and that askwise reads back as they were."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from askwise.errors import InputError
from askwise.export.tables import FORMATS, write_table
from askwise.files import target, write_whole
from askwise.oracle.label_studio import read_tasks, task_of
from askwise.oracle.labelling import Labelling, Values
from askwise.store.classes import edited
from askwise.store.contract import Store
from askwise.store.facts import CANNOT_TELL, SKIP, Answer, ClassEdit, NoLabel, Told
from askwise.store.ledger import Ledger

LABEL_STUDIO, FOLDERS, COCO = "label-studio", "folders", "coco"
KINDS = (*(kind[1:] for kind in FORMATS), LABEL_STUDIO, FOLDERS, COCO)
_TEXT = ".txt"
_COLUMNS = ("id", "label", "annotator", "note")
_UNSAFE = frozenset('%/\\:*?"<>|')  # in the name of a file, on one system or another


@dataclass(frozen=True)
class Labelled:
    """What was said about one item: a class by its name, or why it has none, and by whom."""

    id: str
    told: Told
    annotator: str = ""
    note: str = ""


def labels_of(store: Store, kind: Labelling) -> list[Labelled]:
    """What holds for every item by now, in the order of their ids: labels, skips and cannot-tells.

    Tags and numbers are told as a file of labels writes them. Answers that test the model, and are not
    learned from, are labels like the others.
    """
    ledger, edits = Ledger(store).refresh(), edited(store.facts(ClassEdit))
    last = {answer.id: answer for answer in store.facts(Answer)}
    found = []
    for name in sorted({*ledger.labels, *ledger.skipped, *last}):
        said = last.get(name)
        who, note = ("", "") if said is None else (said.annotator, said.note)
        if name in ledger.labels:
            found.append(Labelled(name, kind.text(ledger.labels[name]), who, note))
        elif name in ledger.skipped:
            told = CANNOT_TELL if ledger.skipped[name] == "cannot_tell" else SKIP
            found.append(Labelled(name, told, who, note))
        elif said is not None and said.verdict == "label" and name not in ledger.quarantined:
            label = edits.now(said.label) if isinstance(said.label, int) else said.label
            if label is not None:
                found.append(Labelled(name, kind.text(label), who, note))
    return found


def write_labels(path: Path, labels: Sequence[Labelled], kind: Labelling) -> int:
    """The number of rows in a CSV, JSONL or Parquet file with the columns id, label, annotator and note.

    An item that was skipped has an empty label, one that nobody could tell `cannot_tell`. One number is a
    number in every kind of file; several are a text, with | between them.
    """
    if any(one.told == "cannot_tell" for one in labels) and any(one.told is CANNOT_TELL for one in labels):
        raise InputError(
            "a class is called cannot_tell, so a file cannot say of which items nobody could tell; rename it"
        )
    number = isinstance(kind, Values) and len(kind.names) == 1
    unsaid = sum(one.told is CANNOT_TELL for one in labels)
    if number and unsaid and path.suffix.lower() == ".parquet":
        raise InputError(
            f"a column of numbers in Parquet cannot say of which items nobody could tell, and there are "
            f"{unsaid}; write .csv or .jsonl"
        )
    rows = (
        {
            "id": one.id,
            "label": _number(one.told) if number else _word(one.told),
            "annotator": one.annotator,
            "note": one.note,
        }
        for one in labels
    )
    return write_table(path, _COLUMNS, rows)


def write_label_studio(
    path: Path, labels: Sequence[Labelled], data: Mapping[str, Mapping[str, str]], kind: Labelling
) -> int:
    """The number of tasks in a file that Label Studio imports; `data` is what it shows of each item.

    The control of its labelling interface is called `label` and the object `item`; several numbers have
    controls of their own names.
    """
    tasks = [
        task_of(one.id, one.told, kind, annotator=one.annotator, note=one.note, data=data.get(one.id, {}))
        for one in labels
    ]
    write_whole(target(path), json.dumps(tasks, indent=1).encode())
    return len(tasks)


def read_label_studio(path: Path, kind: Labelling) -> list[Labelled]:
    """What a JSON export of Label Studio says of items; where annotators disagree it says nothing."""

    def text(told: Told) -> Told:
        return told if isinstance(told, str | NoLabel) else kind.text(kind.label(told, what="the label"))

    found = read_tasks(path, kind)
    return [
        Labelled(one.called, text(one.told), one.annotator, one.note) for one in found if one.told is not None
    ]


def write_folders(path: Path, labels: Sequence[Labelled], files: Mapping[str, Path | str]) -> int:
    """The number of files in a new tree of one folder for each class; `files` are pictures, or texts.

    A picture keeps its name, folders included, with `%2F` between them; the name of a text is its id.
    Items without a class are left out.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} is there already; choose another folder, or empty it")
    chosen = [one for one in labels if isinstance(one.told, str) and one.id in files]
    for one in chosen:
        source = files[one.id]
        place = path / _escaped(str(one.told)) / _escaped(one.id)
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, str):
            place.with_name(f"{place.name}{_TEXT}").write_text(source, encoding="utf-8")
        else:
            _copied(source, place)
    return len(chosen)


def read_folders(path: Path, *, texts: bool = False) -> list[Labelled]:
    """What a tree of `write_folders` says: the class of every file, by the id that its name holds."""
    ending = _TEXT if texts else ""
    found = (file for file in path.rglob("*") if file.is_file())
    read = (Labelled(unquote(file.name.removesuffix(ending)), unquote(file.parent.name)) for file in found)
    return sorted(read, key=lambda one: one.id)


def _word(told: Told) -> str:
    return told if isinstance(told, str) else "cannot_tell" if told is CANNOT_TELL else ""


def _number(told: Told) -> float | str | None:
    return _word(told) or None if isinstance(told, NoLabel) else float(told)


def _escaped(name: str) -> str:
    """A name without what no file may be called; `unquote` gives it back."""
    safe = "".join(quote(c, safe="") if c in _UNSAFE or not c.isprintable() else c for c in name)
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe


def _copied(source: Path, place: Path) -> None:
    try:
        os.link(source, place)  # the same bytes, without a second copy of them
    except OSError:
        shutil.copyfile(source, place)

"""An oracle that reads its answers from a CSV, TSV, JSONL or Parquet file of items and labels."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from askwise.errors import InputError
from askwise.oracle.contract import Question
from askwise.pool.cells import restored
from askwise.pool.tables import header, rows
from askwise.store.classes import names, position
from askwise.store.facts import CANNOT_TELL, SKIP, Told

ID_COLUMNS = ("id", "item", "file", "filename", "file_name", "path", "image", "name", "row")
LABEL_COLUMNS = ("label", "class", "category", "target", "answer", "y")
_WORDS: dict[str, Told] = {"": SKIP, "skip": SKIP, "cannot_tell": CANNOT_TELL}

Find = Callable[[str | int], str]
"""From what a person calls an item (id, row, file name) to its id; an error where there is none."""


class File:
    """Answers what the file answers; other questions stay open.

    Its columns may be called as people call them (`file;class`, `image,label`, ...). With `find` items are
    matched by id, row or file name, and `unmatched` says which lines match nothing. An empty label or
    `skip` skips the item, `cannot_tell` says so, unless a class has that name.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        classes: int | Sequence[str | int],
        id_column: str | None = None,
        label_column: str | None = None,
        find: Find | None = None,
    ) -> None:
        self._told: dict[str, Told] = {}
        self.unmatched: dict[str, str] = {}
        """What the file calls items that are not in the pool, and why they are not found."""
        self.name, self.lines = str(path), 0
        known = names(classes)
        lines: dict[str, int] = {}
        columns = _columns(Path(path), id_column, label_column)
        for row in rows(Path(path), columns):
            if row.reason:
                raise InputError(f"{path}: {row.reason}; mend the line")
            self.lines += 1
            called, label = row.cells
            if any("\udc80" <= letter <= "\udcff" for letter in called):
                raise InputError(f"{path}, line {row.line} is not UTF-8; save the file as UTF-8")
            if Path(path).suffix.lower() in (".csv", ".tsv"):
                label = restored(label)  # as an export wrote it
            told = self._read(label.strip(), known, f"{path}, line {row.line}: the label of {called!r}")
            identity = self._found(called, columns[0], find)
            if identity is None:
                continue
            if self._told.setdefault(identity, told) != told:
                raise InputError(
                    f"{path} gives item {identity!r} two labels, on lines {lines[identity]} and {row.line}; "
                    "keep one"
                )
            lines[identity] = row.line
        if self.unmatched and not self._told:
            first, why = next(iter(self.unmatched.items()))
            raise InputError(f"{path}: none of {len(self.unmatched)} lines names an item; {first!r}: {why}")

    @property
    def told(self) -> Mapping[str, Told]:
        """Everything that the file says, what it skips included."""
        return self._told

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the file has, without what it skips."""
        return {name: told for name, told in self._told.items() if isinstance(told, str)}

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The answers that the file has."""
        return {q.id: self._told[q.id] for q in questions if q.id in self._told}

    def corrections(self, answered: Mapping[str, str]) -> dict[str, Told]:
        """The answers that have another label in the file by now."""
        return {
            name: self._told[name] for name, label in answered.items() if self._told.get(name, label) != label
        }

    def _found(self, called: str, column: str, find: Find | None) -> str | None:
        plain = restored(called) if Path(self.name).suffix.lower() in (".csv", ".tsv") else called
        if find is None:
            return plain
        try:
            if plain != called:  # as an export wrote it; or an item that is really called so
                return _first(find, plain, called)
            return find(int(called) if column.lower() == "row" and called.isdecimal() else called)
        except InputError as error:
            self.unmatched[called] = str(error).partition(";")[0]
            return None

    @staticmethod
    def _read(label: str, classes: Sequence[str], what: str) -> Told:
        if label in _WORDS and label not in classes:
            return _WORDS[label]
        return classes[position(label, classes, what=what)]


def _first(find: Find, one: str, other: str) -> str:
    """What one name finds, or else the other."""
    try:
        return find(one)
    except InputError:
        return find(other)


def _columns(path: Path, id_column: str | None, label_column: str | None) -> list[str]:
    """The names of the two columns, as given or by the names that people use."""
    found = header(path)
    chosen = []
    for what, given, usual in (("item", id_column, ID_COLUMNS), ("label", label_column, LABEL_COLUMNS)):
        by_name = {name.strip().lower(): name for name in found}
        own = given or next((by_name[name] for name in usual if name in by_name), None)
        if own is None:
            raise InputError(
                f"{path} has the columns {', '.join(found) or 'none'}, and none that names the {what}; "
                f"call it {usual[0]!r}"
            )
        chosen.append(own)
    return chosen

"""An oracle that reads its answers from a file: CSV, TSV, JSONL, Parquet, or a JSON of Label Studio."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askwise.errors import InputError
from askwise.oracle.contract import Question
from askwise.oracle.label_studio import matched, read_tasks
from askwise.oracle.labelling import Classes, Labelling, Pictures, TagSets, Values, no_label
from askwise.pool.decimals import has_comma, surely, with_point
from askwise.pool.tables import header, restored, rows
from askwise.store.classes import names
from askwise.store.facts import NoLabel, Told
from askwise.store.labels import Label

ID_COLUMNS = ("id", "item", "file", "filename", "file_name", "path", "image", "name", "row")
LABEL_COLUMNS = ("label", "labels", "class", "category", "tags", "target", "value", "mask", "answer", "y")

EXPORT = ".json"
"""The ending of an export of Label Studio."""

Find = Callable[[str | int], str]
"""From what a person calls an item (id, row, file name) to its id; an error where there is none."""


class File:
    r"""Answers what the file answers; other questions stay open.

    Its columns may be called as people call them (`file;class`, `image,label`, ...). With `find` items are
    matched by id, row or file name, and `unmatched` says which lines match nothing. An empty label or
    `skip` skips the item, `cannot_tell` says so, unless a class has that name. `classes` are names, or
    what a label is under another task: tags `joy|love|?anger` (the last unknown) or `none`, numbers, paths
    of masks.
    A `.json` file is an export of Label Studio; tasks whose annotators disagree are among the unmatched.

    >>> from pathlib import Path
    >>> _ = Path("labels.csv").write_text("file,class\na.jpg,cat\nb.jpg,dog\n")
    >>> oracle = aw.oracle.File("labels.csv", classes=["cat", "dog"])
    >>> question = aw.oracle.Question(id="b.jpg", row=1, name="b.jpg", round=0, rank=0)
    >>> oracle.answer([question])
    {'b.jpg': 'dog'}
    """

    def __init__(
        self,
        path: str | Path,
        *,
        classes: int | Sequence[str | int] | Labelling,
        id_column: str | None = None,
        label_column: str | None = None,
        find: Find | None = None,
    ) -> None:
        self._told: dict[str, Told] = {}
        self.unmatched: dict[str, str] = {}
        """What the file calls items that are not in the pool, and why they are not found."""
        self.name, self.lines, self.empty = str(path), 0, 0
        kind = classes if isinstance(classes, Labelling) else Classes(names(classes))
        # paths of masks begin where the file is, as those of a table in a folder do
        self._kind = replace(kind, folder=Path(path).parent) if isinstance(kind, Pictures) else kind
        lines: dict[str, str] = {}
        for where, identity, told in self._said(Path(path), id_column, label_column, find):
            if self._told.setdefault(identity, told) != told:
                raise InputError(
                    f"{path} gives item {identity!r} two labels, on {lines[identity]} and {where}; keep one"
                )
            lines[identity] = where
        if self.unmatched and not self._told:
            first, why = next(iter(self.unmatched.items()))
            raise InputError(f"{path}: none of {len(self.unmatched)} lines names an item; {first!r}: {why}")

    def _said(
        self, path: Path, id_column: str | None, label_column: str | None, find: Find | None
    ) -> Iterator[tuple[str, str, Told]]:
        """Where the file says what of which item."""
        if path.suffix.lower() == EXPORT:
            yield from self._tasks(path, find)
            return
        columns = _columns(path, id_column, label_column)
        numbers = isinstance(self._kind, Values)
        commas = numbers and _decimal_commas([row.cells[1] for row in rows(path, columns, numbers=True)])
        for row in rows(path, columns, numbers=numbers, named=True):
            if row.reason:
                raise InputError(f"{path}: {row.reason}; mend the line")
            self.lines += 1
            called, label = row.cells
            if any("\udc80" <= letter <= "\udcff" for letter in called):
                raise InputError(f"{path}, line {row.line} is not UTF-8; save the file as UTF-8")
            if path.suffix.lower() in (".csv", ".tsv"):
                label = restored(label)  # as an export wrote it
            label = with_point(label) if commas and has_comma(label) else label
            self.empty += not label.strip()
            told = self._read(label.strip(), f"{path}, line {row.line}: the label of {called!r}")
            identity = self._found(called, columns[0], find)
            if identity is not None:
                yield f"line {row.line}", identity, told

    def _tasks(self, path: Path, find: Find | None) -> Iterator[tuple[str, str, Told]]:
        for one in read_tasks(path, self._kind):
            self.lines += 1
            if one.told is None:
                self.unmatched[one.task] = one.problem
                continue
            try:
                identity = one.called if find is None else matched(one.called, find)
            except InputError as error:
                self.unmatched[one.task] = str(error).partition(";")[0]
                continue
            yield one.task, identity, one.told

    def notes(self) -> list[str]:
        """What a person should know of its lines: how many name no item, and how many say nothing."""
        found = []
        if self.unmatched:
            first, why = next(iter(self.unmatched.items()))
            found.append(f"{self._some(len(self.unmatched), 'name')} no item: {first!r}: {why}")
        if self.empty:
            nothing = self._kind.nothing if isinstance(self._kind, TagSets) else ""
            mend = f"; write {nothing} as the label of an item without tags" if nothing else ""
            found.append(f"{self._some(self.empty, 'say')} nothing: these items are skipped{mend}")
        return found

    def _some(self, count: int, verb: str) -> str:
        return f"{count} of {self.lines} lines of {self.name} {verb}{'s' if count == 1 else ''}"

    @property
    def told(self) -> Mapping[str, Told]:
        """Everything that the file says, what it skips included."""
        return self._told

    @property
    def labels(self) -> dict[str, Told]:
        """The labels that the file has, without what it skips."""
        return {name: told for name, told in self._told.items() if not isinstance(told, NoLabel)}

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The answers that the file has."""
        return {q.id: self._told[q.id] for q in questions if q.id in self._told}

    def corrections(self, answered: Mapping[str, Label]) -> dict[str, Told]:
        """The answers that have another label in the file by now."""
        return {
            name: self._told[name]
            for name, label in answered.items()
            if name in self._told and self._label(name) != label
        }

    def _label(self, name: str) -> Label | None:
        told = self._told[name]
        return None if isinstance(told, NoLabel) else self._kind.label(told, what=f"the label of {name!r}")

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

    def _read(self, label: str, what: str) -> Told:
        told = no_label(label, self._kind.names)
        if told is not None:
            return told
        return self._kind.said(label, what=what)


def _decimal_commas(cells: Sequence[str]) -> bool:
    """Whether commas are decimal ones: some cannot stand between thousands, and no number has a point."""
    return any(map(surely, cells)) and not any("." in cell for cell in cells)


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

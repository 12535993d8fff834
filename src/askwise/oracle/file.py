"""An oracle that reads its answers from a CSV, JSONL or Parquet file of ids and labels."""

from collections.abc import Sequence
from pathlib import Path

from askwise.errors import InputError
from askwise.oracle.contract import Question
from askwise.pool.tables import rows
from askwise.store.classes import names, position
from askwise.store.facts import CANNOT_TELL, SKIP, Told

_WORDS: dict[str, Told] = {"": SKIP, "skip": SKIP, "cannot_tell": CANNOT_TELL}


class File:
    """Answers what the file answers; other questions stay open.

    An empty label or `skip` skips the item, `cannot_tell` says so, unless a class has that name.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        classes: int | Sequence[str | int],
        id_column: str = "id",
        label_column: str = "label",
    ) -> None:
        self._told: dict[str, Told] = {}
        known = names(classes)
        lines: dict[str, int] = {}
        for row in rows(Path(path), [id_column, label_column]):
            if row.reason:
                raise InputError(f"{path}: {row.reason}; mend the line")
            identity, label = row.cells
            told = self._read(label.strip(), known, f"{path}, line {row.line}: the label of {identity!r}")
            if self._told.setdefault(identity, told) != told:
                raise InputError(
                    f"{path} gives item {identity!r} two labels, on lines {lines[identity]} and {row.line}; "
                    "keep one"
                )
            lines[identity] = row.line

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the file has, without what it skips."""
        return {name: told for name, told in self._told.items() if isinstance(told, str)}

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The answers that the file has."""
        return {q.id: self._told[q.id] for q in questions if q.id in self._told}

    @staticmethod
    def _read(label: str, classes: Sequence[str], what: str) -> Told:
        if label in _WORDS and label not in classes:
            return _WORDS[label]
        return classes[position(label, classes, what=what)]

"""Facts as rows of plain values, and back: what a table holds, and what a sum is taken over."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from askwise.errors import InputError
from askwise.store import labels
from askwise.store.chain import row_sum
from askwise.store.facts import FACTS, Fact

Row = tuple[Any, ...]
"""seq, revision, and the fields of a fact in their order."""

TEXT, WHOLE, REAL = "text", "whole", "real"


class Kind:
    """How one kind of fact is laid out."""

    def __init__(self, kind: type[Fact]) -> None:
        hints = get_type_hints(kind)
        own = [one.name for one in fields(kind) if one.name not in ("revision", "seq")]
        self.kind, self.name, self.fields = kind, kind.__name__, own
        self.columns = {name: _column(hints[name]) for name in own}
        self._coded = [(at, *_CODED[key]) for at, name in enumerate(own) if (key := _coding(hints[name]))]

    def values(self, fact: Fact) -> list[Any]:
        """The fields of a fact as a row has them."""
        found = [getattr(fact, name) for name in self.fields]
        for at, write, _ in self._coded:
            if found[at] is not None:
                found[at] = write(found[at])
        return found

    def fact(self, row: Sequence[Any]) -> Fact:
        """The fact of a row that has been checked."""
        found = list(row[2:])
        for at, _, read in self._coded:
            if found[at] is not None:
                found[at] = read(found[at])
        return self.kind(seq=row[0], revision=row[1], **dict(zip(self.fields, found, strict=True)))

    def sum(self, row: Sequence[Any]) -> bytes:
        """The sum that belongs to a row."""
        return row_sum(self.name, row)


def _write_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _finite_or_infinite(value: float) -> float:
    if value != value:
        raise InputError("a number that is NaN cannot be stored; leave it out")
    return float(value) + 0.0  # SQLite forgets the sign of -0.0, and the row would not be the one summed


_CODED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "json": (_write_json, json.loads),
    "tuple": (_write_json, lambda text: tuple(json.loads(text))),
    "label": (labels.written, labels.read),
    "flag": (int, bool),  # SQLite has no truth values
    "real": (_finite_or_infinite, float),
}


def _coding(hint: Any) -> str | None:
    shown = str(hint)
    if "Tags" in shown:
        return "label"
    if "tuple[" in shown:
        return "tuple"
    if "dict[" in shown or "list[" in shown:
        return "json"
    return {bool: "flag", float | None: "real", float: "real"}.get(hint)


def _column(hint: Any) -> tuple[str, bool]:
    """The type of a column, and whether it may be empty."""
    if _coding(hint) in ("label", "tuple", "json"):
        return TEXT, "None" in str(hint)
    plain = {str: TEXT, int: WHOLE, float: REAL, bool: WHOLE}
    for known, column in plain.items():
        if hint in (known, known | None):
            return column, hint != known
    raise TypeError(f"no column for {hint}")


KINDS: dict[type[Fact], Kind] = {kind: Kind(kind) for kind in FACTS}

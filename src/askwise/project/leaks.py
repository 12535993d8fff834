"""Columns of a table that give the label away: a model that learns from them is useless on new rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from askwise.errors import InputError
from askwise.pool import Coding, Pool
from askwise.pool.coding import Category, number
from askwise.pool.tables import rows
from askwise.project.sources import Source

_SHOWN = 8
_ENOUGH = 4  # labels that a column must all say before it is no coincidence


def refuse_leaks(source: Source, pool: Pool, told: Mapping[str, Any], classes: Sequence[str]) -> list[str]:
    """Warnings about columns; a column that gives the labels away is refused."""
    if source.coding is None:
        return []
    names = [part.column for part in source.coding.columns]
    known = {name: label for name, label in told.items() if isinstance(label, str)}
    for column in _equal(source, pool, known, names) or _of_classes(source.coding, classes):
        raise InputError(
            f"column {column!r} of {source.path} says the classes themselves, and would be learned from; "
            f"leave it out: --ignore {column!r}"
        )
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return [f"it learns from the columns {shown}; leave one out with --ignore"]


def _equal(source: Source, pool: Pool, known: Mapping[str, str], columns: list[str]) -> list[str]:
    """The columns that have the label of every labelled item in them."""
    if len(known) < _ENOUGH or len(set(known.values())) < 2:
        return []
    same = list(columns)
    for name, row in zip(pool.ids, rows(source.path, columns, numbers=True), strict=True):
        if name in known and row.reason is None:
            cells = dict(zip(columns, row.cells, strict=True))
            same = [column for column in same if _says(cells[column], known[name])]
    return same


def _of_classes(coding: Coding, classes: Sequence[str]) -> list[str]:
    """The columns of words that have no other values than the classes."""
    words = [part for part in coding.columns if isinstance(part, Category) and len(part.values) > 1]
    return [part.column for part in words if {value.strip() for value in part.values} <= set(classes)]


def _says(cell: str, label: str) -> bool:
    if cell.strip() == label:
        return True
    one, other = number(cell), number(label)
    return one is not None and one == other

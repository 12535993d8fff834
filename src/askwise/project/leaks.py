"""Columns of a table that give the label away: a model that learns from them is useless on new rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from askwise.errors import InputError
from askwise.oracle.file import LABEL_COLUMNS
from askwise.pool import Pool
from askwise.pool.coding import Category, Column, Number, number
from askwise.pool.tables import rows
from askwise.project.sources import Source
from askwise.store.labels import Numbers

_SHOWN = 8
_ENOUGH = 4  # labels that a column must all say before it is no coincidence
_MOSTLY = 0.95  # of the known labels: a column that says fewer is another thing with the same values


def refuse_leaks(
    source: Source, pool: Pool, told: Mapping[str, Any], names: Sequence[str], *, made_of: str = "classes"
) -> list[str]:
    """Warnings about columns; a column that gives the labels away is refused.

    `names` are those of what a label is `made_of`: classes, tags or numbers.
    """
    if source.coding is None:
        return []
    parts = source.coding.columns
    columns = [part.column for part in parts]
    if made_of == "numbers":
        for column in columns:
            if column.strip().casefold() in {name.strip().casefold() for name in names}:
                raise _leak(source, column, "is the number to predict")
    said = [_said(source, pool, known, parts) for known in _known(told)]
    for column in columns:
        if any(shares.get(column) == 1.0 for shares in said):
            raise _leak(source, column, f"says the {made_of} themselves")
    alike = _of_classes(source, parts, names) if made_of == "classes" else []
    # what the known labels deny is something else with the same values, such as another question's yes or no
    alike = [part for part in alike if all(shares.get(part.column, 1.0) >= _MOSTLY for shares in said)]
    for part in alike:
        if isinstance(part, Category) or part.column.strip().lower() in LABEL_COLUMNS:
            raise _leak(source, part.column, "says the classes themselves")
    if len(alike) == 1:
        column = alike[0].column
        raise InputError(
            f"column {column!r} of {source.path} has the values of the classes, and would be learned from; "
            f"if it says them, leave it out: --ignore {column!r}; if not, give some known labels "
            "(--labels FILE), or name the classes in words"
        )
    notes = [f"it learns from the columns {_listed(columns)}; leave one out with --ignore"]
    if alike:
        these = _listed([part.column for part in alike])
        notes.append(f"the columns {these} have the values of the classes; leave out one that says them")
    return notes


def _leak(source: Source, column: str, why: str) -> InputError:
    return InputError(
        f"column {column!r} of {source.path} {why}, and would be learned from; "
        f"leave it out: --ignore {column!r}"
    )


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    return ", ".join(columns[:_SHOWN]) + more


def _known(told: Mapping[str, Any]) -> Iterator[dict[str, str | float]]:
    """The labels that are known: classes, or each of the numbers; too few tell nothing."""
    numbers = {name: label.values for name, label in told.items() if isinstance(label, Numbers)}
    each: list[dict[str, str | float]]
    each = [{name: label for name, label in told.items() if isinstance(label, str)}]
    each += [
        {name: values[place] for name, values in numbers.items()}
        for place in range(max(map(len, numbers.values()), default=0))
    ]
    return (known for known in each if len(known) >= _ENOUGH and len(set(known.values())) > 1)


def _said(
    source: Source, pool: Pool, known: Mapping[str, str | float], parts: Sequence[Column]
) -> dict[str, float]:
    """For each column the share of the labelled items whose label it has."""
    columns = [part.column for part in parts]
    counts, seen = dict.fromkeys(columns, 0), 0
    for name, row in zip(pool.ids, rows(source.path, columns, numbers=True), strict=True):
        if name in known and row.reason is None:
            seen += 1
            for part, cell in zip(parts, row.cells, strict=True):
                counts[part.column] += _says(cell, known[name], part)
    return {column: count / seen for column, count in counts.items()} if seen else {}


def _of_classes(source: Source, parts: Sequence[Column], classes: Sequence[str]) -> list[Column]:
    """The columns of words with no other values than the classes, and those of numbers with these values."""
    words = [part for part in parts if isinstance(part, Category) and len(part.values) > 1]
    found: list[Column] = [part for part in words if {value.strip() for value in part.values} <= set(classes)]
    wanted = {number(name) for name in classes}
    if len(wanted) < 2 or any(value is None or math.isnan(value) for value in wanted):
        return found
    numbers = [part for part in parts if isinstance(part, Number)]
    values = {part.column: set[float | None]() for part in numbers}
    for row in rows(source.path, [part.column for part in numbers], numbers=True):
        for part, cell in zip(numbers, row.cells, strict=True) if row.reason is None else ():
            if part.column in values:
                values[part.column].add(part.value(cell))
                if not values[part.column] <= {*wanted, None}:
                    del values[part.column]
    return found + [part for part in parts if values.get(part.column, set()) - {None} == wanted]


def _says(cell: str, label: str | float, part: Column) -> bool:
    if cell.strip() == label:
        return True
    one = part.value(cell) if isinstance(part, Number) else number(cell)
    other = number(label) if isinstance(label, str) else label
    return one is not None and one == other

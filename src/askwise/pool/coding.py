"""From columns of numbers and categories to rows of numbers: fixed once, by the pool that was there."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float32
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from askwise.errors import InputError

_MOST_CATEGORIES = 100
_MOSTLY = 0.95  # of the cells: a column with so many numbers is one of numbers


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Number(_Record):
    """A column of numbers, as distances from the mean in deviations; where cells lack, a second says so."""

    kind: Literal["number"] = "number"
    column: str
    mean: FiniteFloat
    deviation: Annotated[FiniteFloat, Field(gt=0)]
    lacks: bool
    """Whether some cells are empty: they count as the mean."""


class Category(_Record):
    """A column of categories: one number for each, which is 1 where the cell says so."""

    kind: Literal["category"] = "category"
    column: str
    values: tuple[str, ...]


Column = Annotated[Number | Category, Field(discriminator="kind")]


class Coding(_Record):
    """How each column becomes numbers; `Coding.model_validate_json(coding.model_dump_json())` is the same."""

    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        """How many numbers an item has."""
        return sum(
            len(part.values) if isinstance(part, Category) else 1 + part.lacks for part in self.columns
        )

    def row(self, cells: Sequence[str]) -> Float32[np.ndarray, " D"]:
        """The numbers of one row; a category that the pool did not have is none of the known ones."""
        found: list[float] = []
        for part, cell in zip(self.columns, cells, strict=True):
            if isinstance(part, Category):
                found += [float(cell == value) for value in part.values]
                continue
            value = number(cell)
            found.append(0.0 if value is None else (value - part.mean) / part.deviation)
            if part.lacks:
                found.append(float(value is None))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and the pool says so
            return np.array(found, np.float64).astype(np.float32)

    def fault(self, cells: Sequence[str]) -> str | None:
        """Why a row cannot be used."""
        for part, cell in zip(self.columns, cells, strict=True):
            if isinstance(part, Number):
                value = number(cell)
                if value is None and not part.lacks:
                    return f"{part.column!r} is empty, and was not when the columns were read first"
                if value is not None and not math.isfinite(value):
                    return f"{part.column!r} is {cell[:40]!r}, not a finite number"
            elif any("\ud800" <= letter <= "\udfff" for letter in cell):
                return f"{part.column!r} is not UTF-8"
        return None


def number(cell: str) -> float | None:
    """A cell as a number: None where it is empty, NaN where it is no number."""
    if not cell.strip():
        return None
    try:
        # Python would read 1_000 as a thousand
        return float({"True": "1", "False": "0"}.get(cell, cell).replace("_", "?"))
    except ValueError:
        return math.nan


def fit_coding(table: Mapping[str, Sequence[str]], *, categories: Sequence[str] = ()) -> Coding:
    """How the columns of a pool are to be read: numbers by mean and deviation, others by their values.

    `categories` names columns whose numbers are only names, as postal codes are.
    """
    return Coding(columns=tuple(_column(name, cells, name in categories) for name, cells in table.items()))


def _column(name: str, cells: Sequence[str], named: bool) -> Number | Category:
    full = [cell for cell in cells if cell.strip()]
    if not full:
        raise InputError(f"column {name!r} is empty; leave it out: ignore=[{name!r}]")
    values = np.array([number(cell) for cell in full], np.float64)
    finite = values[np.isfinite(values)]
    # what is written as a number but has no finite value, such as 1e999, is a broken number, not a name
    numeric = int((~np.isnan(values)).sum())
    if not named and len(finite) and numeric >= _MOSTLY * len(full):
        with np.errstate(over="ignore"):
            deviation = float(finite.std())
        if not math.isfinite(deviation):
            raise InputError(
                f"column {name!r} holds numbers too large to be averaged; leave it out, or scale it"
            )
        return Number(
            column=name,
            mean=float(finite.mean()),
            deviation=deviation or 1.0,
            lacks=len(full) < len(cells),
        )
    counts = Counter(full)
    if len(counts) > _MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} has {len(counts)} different values, more than {_MOST_CATEGORIES}; "
            f"leave it out: ignore=[{name!r}]"
        )
    return Category(column=name, values=tuple(sorted(counts)))

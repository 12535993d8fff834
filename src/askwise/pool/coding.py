"""From columns of numbers and categories to rows of numbers: fixed once, by the pool that was there."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import numpy as np
from jaxtyping import Float32
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from askwise.errors import InputError
from askwise.pool.decimals import grouped, has_comma, surely, with_point

_MOST_CATEGORIES = 100
_MOSTLY = 0.95  # of the cells: a column with so many numbers is one of numbers
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-")
"""What a column of numbers may say where it lacks one."""
_Commas: TypeAlias = Literal["none", "own", "sure"]
"""Whether commas in a file can be decimal ones: not, where a column shows it, or in all columns alike."""


class ColumnError(InputError):
    """A column cannot be learned from; `advice` says it to callers who leave columns out in another way."""

    def __init__(self, column: str, why: str, *, mend: str = "") -> None:
        self.column, self.why, self.mend = column, why, mend
        super().__init__(self.advice(f"ignore=[{column!r}]"))

    def advice(self, ignore: str) -> str:
        """The message, where `ignore` is what leaves the column out."""
        return f"column {self.column!r} {self.why}; {self.mend}leave it out: {ignore}"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Number(_Record):
    """A column of numbers, as distances from the mean in deviations; where cells lack, a second says so."""

    kind: Literal["number"] = "number"
    column: str
    mean: FiniteFloat
    deviation: Annotated[FiniteFloat, Field(gt=0)]
    lacks: bool
    """Whether some cells are empty, or say NA: they count as the mean."""
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    """The range of the numbers that were there; none in codings of earlier versions."""
    comma: bool = False
    """Whether decimals stand after a comma: then no number has a point."""

    def value(self, cell: str) -> float | None:
        """A cell as a number: None where it is missing, NaN where it is no number."""
        if self.comma:
            return math.nan if "." in cell else number(with_point(cell))
        return number(cell)


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

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [part.column for part in self.columns]

    def without(self, columns: Sequence[str]) -> "Coding":
        """The same of the other columns."""
        return Coding(columns=tuple(part for part in self.columns if part.column not in columns))

    def row(self, cells: Sequence[str]) -> Float32[np.ndarray, " D"]:
        """The numbers of one row; a category that the pool did not have is none of the known ones."""
        found: list[float] = []
        for part, cell in zip(self.columns, cells, strict=True):
            if isinstance(part, Category):
                found += [float(cell == value) for value in part.values]
                continue
            value = part.value(cell)
            found.append(0.0 if value is None else (value - part.mean) / part.deviation)
            if part.lacks:
                found.append(float(value is None))
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and the pool says so
            return np.array(found, np.float64).astype(np.float32)

    def unlike(self, cells: Sequence[str]) -> str | None:
        """Why a row is like none that was there when the columns were read first: a model only guesses."""
        for part, cell in zip(self.columns, cells, strict=True):
            if isinstance(part, Category):
                if cell.strip() and cell not in part.values:
                    return f"{part.column!r} is {cell[:40]!r}, which no item had that the model knows"
            elif _far(part.value(cell), part):
                seen = f"{part.low:g} to {part.high:g}"
                return f"{part.column!r} is {cell[:40]!r}, far outside of {seen}, which the model knows"
        return None

    def fault(self, cells: Sequence[str]) -> str | None:
        """Why a row cannot be used."""
        for part, cell in zip(self.columns, cells, strict=True):
            if isinstance(part, Number):
                value = part.value(cell)
                if value is None and not part.lacks:
                    return f"{part.column!r} is missing, and was not when the columns were read first"
                if value is not None and not math.isfinite(value):
                    how = " with a decimal comma" if part.comma else ""
                    return f"{part.column!r} is {cell[:40]!r}, not a finite number{how}"
            elif any("\ud800" <= letter <= "\udfff" for letter in cell):
                return f"{part.column!r} is not UTF-8"
        return None


def _far(value: float | None, part: Number) -> bool:
    """Whether a number lies beyond the range that was there by more than the width of that range."""
    if value is None or part.low is None or part.high is None:
        return False
    width = part.high - part.low
    return value < part.low - width or value > part.high + width


def number(cell: str) -> float | None:
    """A cell as a number: None where it is empty or a word for that, NaN where it is no number."""
    if cell.strip().casefold() in _MISSING:
        return None
    try:
        # Python would read 1_000 as a thousand
        return float({"True": "1", "False": "0"}.get(cell, cell).replace("_", "?"))
    except ValueError:
        return math.nan


def fit_coding(
    table: Mapping[str, Sequence[str]], *, categories: Sequence[str] = (), separator: str | None = None
) -> Coding:
    """How the columns of a pool are to be read: numbers by mean and deviation, others by their values.

    `categories` names columns whose numbers are only names, as postal codes are. Numbers may have decimal
    commas, unless these are the `separator` of the file as well.
    """
    commas: _Commas = "none"
    if separator != ",":
        sure = any(surely(cell) for cells in table.values() for cell in cells if "," in cell)
        commas = "sure" if sure and not any(map(_pointed, table.values())) else "own"
    columns = (_column(name, cells, name in categories, commas) for name, cells in table.items())
    return Coding(columns=tuple(columns))


def _pointed(cells: Sequence[str]) -> bool:
    """Whether numbers of a column have a decimal point."""
    return any("." in cell and not math.isnan(number(cell) or 0.0) for cell in cells)


def _by_comma(name: str, full: Sequence[str], commas: _Commas) -> bool:
    """Whether the decimals of a column of numbers stand after a comma; it is refused if that is not sure."""
    found = [cell for cell in full if "," in cell and (has_comma(cell) or grouped(cell))]
    if not found:
        return False
    plain = sum(not math.isnan(number(cell) or 0.0) for cell in full)
    if plain + len(found) < _MOSTLY * len(full):
        return False
    known = commas == "sure" or (commas == "own" and any(map(surely, found)))
    if known and all(map(has_comma, found)) and not _pointed(full):
        return True
    if plain >= _MOSTLY * len(full):
        return False  # a few broken cells: their lines are named
    odd = next((cell for cell in found if not surely(cell)), found[0])
    raise ColumnError(
        name,
        f"holds numbers with a comma, such as {odd.strip()[:40]!r}, which is not surely a decimal comma",
        mend="write them with a decimal point and no other marks, or ",
    )


def _column(name: str, cells: Sequence[str], named: bool, commas: _Commas) -> Number | Category:
    if not any(cell.strip() for cell in cells):
        raise ColumnError(name, "is empty")
    full = [cell for cell in cells if number(cell) is not None]
    comma = not named and _by_comma(name, full, commas)
    values = np.array([number(with_point(cell) if comma else cell) for cell in full], np.float64)
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
            low=float(finite.min()),
            high=float(finite.max()),
            comma=comma,
        )
    counts = Counter(cell for cell in cells if cell.strip())  # among words NA may be one, too
    if len(counts) > _MOST_CATEGORIES:
        raise ColumnError(name, f"has {len(counts)} different values, more than {_MOST_CATEGORIES}")
    return Category(column=name, values=tuple(sorted(counts)))

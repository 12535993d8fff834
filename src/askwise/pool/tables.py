"""The rows of tables, with the line each stands on: CSV, TSV, JSONL, Parquet, a saved dataset.

And cells of a CSV that no spreadsheet takes for a formula, and back again.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.errors import InputError, choose
from askwise.files import refusing
from askwise.pool import arrow

LONGEST = 1_000_000
"""Characters of a cell; more is a broken file rather than a text."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?"
_NUMBERS = re.compile(rf"{_NUMBER}(\|{_NUMBER})*")  # as a file of labels writes them


@dataclass(frozen=True)
class Row:
    """One row: its line, the cells that were wanted, and why it cannot be used."""

    line: int
    cells: tuple[str, ...]
    reason: str | None = None


def rows(
    path: Path, columns: list[str], *, numbers: bool = False, named: bool | None = None
) -> Iterator[Row]:
    """Every row of a file as the cells of the wanted columns; rows that are broken carry a reason.

    A cell is text or a whole number; with `numbers` also a fraction, true or false, or nothing. If `named`,
    as it is without `numbers`, a line of a JSONL has to name every column.
    """
    kind = _kind(path)
    if kind == "csv":
        return _csv(path, columns)
    if kind == "jsonl":
        return _jsonl(path, columns, numbers, named=not numbers if named is None else named)
    return _arrow(path, columns, numbers)


def header(path: Path) -> list[str]:
    """The names of a file's columns; those of a JSONL are the first object's."""
    kind = _kind(path)
    if kind == "csv":
        with _text(path) as file:
            names = next(_reader(path, file), [])
    elif kind == "jsonl":
        first: Any = next((record for _, _, record in records(path)), {})
        if isinstance(first, str):
            raise InputError(f"{path}: {first}; mend the line")
        names = list(first)
    else:
        names = arrow.columns(path)
    places(path, names, names)
    return names


def records(path: Path) -> Iterator[tuple[int, str, Any]]:
    """Each line of a JSONL: its number, itself, and its object, or why it is none, as text."""
    with _text(path) as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                record = json.loads(text, object_pairs_hook=_once)
            except (ValueError, RecursionError) as error:
                why = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
                yield line, text.strip(), f"line {line} {why}"
                continue
            whole = isinstance(record, dict)
            yield line, text.strip(), record if whole else f"line {line} is not a JSON object"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, if it names each key once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def places(path: Path, names: list[str], columns: list[str]) -> list[int]:
    """Where the wanted columns stand among the names; one that is missing or there twice is refused."""
    for column in columns:
        if names.count(column) > 1:
            raise InputError(f"{path} has the column {column!r} {names.count(column)} times; rename one")
        choose(f"column of {path}", column, names)
    return [names.index(column) for column in columns]


def _kind(path: Path) -> str:
    with refusing(path, "read"):
        if path.is_dir():
            return "dataset"
    kinds = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
    kind = kinds[choose("kind of table", path.suffix.lower(), kinds)]
    with refusing(path, "read"):
        if not path.is_file():
            raise InputError(f"there is no file {path}")
    return kind


def _csv(path: Path, columns: list[str]) -> Iterator[Row]:
    with _text(path) as file:
        reader = _reader(path, file)
        names = next(reader, [])
        wanted = places(path, names, columns)
        for cells in reader:
            line = reader.line
            if not cells:
                continue  # a blank line is no row
            if len(cells) != len(names):
                reason = f"line {line} has {len(cells)} cells, and the header {len(names)}"
                yield Row(line, (",".join(cells),) * len(columns), reason)
            else:
                yield Row(line, tuple(cells[place] for place in wanted))


def separator(path: Path) -> str | None:
    """What stands between the cells of a CSV or TSV; None for other kinds of file."""
    if _kind(path) != "csv":
        return None
    with _text(path) as file:
        return _mark(path, file.readline())


def _mark(path: Path, first: str) -> str:
    # a header without commas is separated by what it has most of, as spreadsheets of some countries do
    marks = ("\t",) if path.suffix.lower() == ".tsv" else (",",) if "," in first else (";", "\t", "|")
    return max(marks, key=first.count) if any(first.count(mark) for mark in marks) else ","


class _reader:  # noqa: N801 - used as a function
    """The lines of a CSV, each refused by number where what follows could not be told apart either."""

    def __init__(self, path: Path, file: io.TextIOWrapper) -> None:
        first = file.readline()
        file.seek(0)
        self._path, self._lines = path, csv.reader(file, delimiter=_mark(path, first), strict=True)

    @property
    def line(self) -> int:
        return self._lines.line_num

    def __iter__(self) -> "_reader":
        return self

    def __next__(self) -> list[str]:
        usual = csv.field_size_limit(LONGEST)  # one for the whole process: it is put back at once
        try:
            return next(self._lines)
        except csv.Error as error:
            raise InputError(f"{self._path}, line {self.line}: {error}; mend the line") from error
        finally:
            csv.field_size_limit(usual)


def _jsonl(path: Path, columns: list[str], numbers: bool, *, named: bool) -> Iterator[Row]:
    found = False
    for line, text, record in records(path):
        if isinstance(record, str):
            yield Row(line, (text,) * len(columns), record)
            continue
        missing = next((column for column in columns if named and column not in record), None)
        row = (
            Row(line, (text,) * len(columns), f"line {line} has no {missing!r}")
            if missing is not None
            else _row(f"line {line}", line, columns, [record.get(column) for column in columns], numbers)
        )
        found = found or row.reason is None
        yield row
    if not found:
        raise InputError(f"no line of {path} is a JSON object with the column {columns[0]!r}")


def _arrow(path: Path, columns: list[str], numbers: bool) -> Iterator[Row]:
    places(path, arrow.columns(path), columns)
    for line, cells in enumerate(arrow.cells(path, columns), start=1):
        yield _row(f"row {line}", line, columns, cells, numbers)


def _row(where: str, line: int, columns: list[str], cells: list[Any], numbers: bool) -> Row:
    """The cells as text; what is neither text nor a number is named."""
    for column, cell in zip(columns, cells, strict=True):
        if not _usable(cell, numbers):
            named = "missing" if cell is None else f"a {type(cell).__name__}"
            wanted = "text or a number" if numbers else "text"
            reason = f"{where}: {column!r} is {named}, not {wanted}"
            return Row(line, tuple(map(str, cells)), reason)
    return Row(line, tuple("" if cell is None else _written(cell) for cell in cells))


def _usable(cell: Any, numbers: bool) -> bool:
    if numbers:
        return cell is None or isinstance(cell, str | int | float)
    return isinstance(cell, str | int) and not isinstance(cell, bool)


def _written(cell: Any) -> str:
    if isinstance(cell, float) and math.isnan(cell):
        return "nan"
    return str(cell)


def _text(path: Path) -> io.TextIOWrapper:
    """The file as text; bytes that are not UTF-8 travel on as surrogates, to be found cell by cell."""
    with refusing(path, "read"):
        with path.open("rb") as file:
            start = file.read(4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(f"{path} is in UTF-16; save it as UTF-8")
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def neutral(cell: str) -> str:
    """The cell with a quote before it, where a spreadsheet would compute it.

    A number, which is no formula, stays one. A cell that already has quotes before a formula gets one more,
    so that `restored` is exact.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBERS.fullmatch(cell) else cell


def restored(cell: str) -> str:
    """The cell before `neutral`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell

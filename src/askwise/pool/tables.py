"""The rows of a text column in CSV, JSONL and Parquet files, with the line each stands on."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.errors import InputError, choose


@dataclass(frozen=True)
class Row:
    """One row: its line, the cells that were wanted, and why it cannot be used."""

    line: int
    cells: tuple[str, ...]
    reason: str | None = None


def rows(path: Path, columns: list[str]) -> Iterator[Row]:
    """Every row of a file as the cells of the wanted columns; rows that are broken carry a reason."""
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    kind = choose("kind of table", path.suffix.lower(), readers)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return readers[kind](path, columns)


def _csv(path: Path, columns: list[str]) -> Iterator[Row]:
    with _text(path) as file:
        reader = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        try:
            header = next(reader, [])
            places = _places(path, header, columns)
            for cells in reader:
                if not cells:
                    continue  # a blank line is no row
                if len(cells) != len(header):
                    reason = f"line {reader.line_num} has {len(cells)} cells, and the header {len(header)}"
                    yield Row(reader.line_num, (",".join(cells),) * len(columns), reason)
                else:
                    yield Row(reader.line_num, tuple(cells[place] for place in places))
        except csv.Error as error:
            # where a quote is not closed or a field never ends, what follows cannot be told apart either
            raise InputError(f"{path}, line {reader.line_num}: {error}; mend the line") from error


def _places(path: Path, header: list[str], columns: list[str]) -> list[int]:
    for column in columns:
        if header.count(column) > 1:
            raise InputError(f"{path} has the column {column!r} {header.count(column)} times; rename one")
        choose(f"column of {path}", column, header)
    return [header.index(column) for column in columns]


def _jsonl(path: Path, columns: list[str]) -> Iterator[Row]:
    found = False
    with _text(path) as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            row = _json_row(line, text, columns)
            found = found or row.reason is None
            yield row
    if not found:
        raise InputError(f"no line of {path} is a JSON object with the column {columns[0]!r}")


def _json_row(line: int, text: str, columns: list[str]) -> Row:
    raw = (text.strip(),) * len(columns)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
        return Row(line, raw, f"line {line} {why}")
    if not isinstance(record, dict):
        return Row(line, raw, f"line {line} is not a JSON object")
    for column in columns:
        if column not in record:
            return Row(line, raw, f"line {line} has no {column!r}")
        if not isinstance(record[column], str | int) or isinstance(record[column], bool):
            return Row(line, raw, f"line {line}: {column!r} is {_named(record[column])}, not text")
    return Row(line, tuple(str(record[column]) for column in columns))


def _parquet(path: Path, columns: list[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {str(error).partition(chr(10))[0]}") from error
    with file:
        _places(path, list(file.schema_arrow.names), columns)
        line = 0
        for batch in file.iter_batches(columns=columns):
            for record in batch.to_pylist():
                line += 1
                cells = [record[column] for column in columns]
                bad = next((c for c, cell in zip(columns, cells, strict=True) if not _textual(cell)), None)
                reason = bad and f"row {line}: {bad!r} is {_named(record[bad])}, not text"
                yield Row(line, tuple(map(str, cells)), reason)


def _textual(cell: Any) -> bool:
    return isinstance(cell, str | int) and not isinstance(cell, bool)


def _text(path: Path) -> io.TextIOWrapper:
    """The file as text; bytes that are not UTF-8 travel on as surrogates, to be found cell by cell."""
    with path.open("rb") as file:
        start = file.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path} is in UTF-16; save it as UTF-8")
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def _named(value: Any) -> str:
    return "missing" if value is None else f"a {type(value).__name__}"

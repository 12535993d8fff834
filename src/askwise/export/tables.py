"""Rows into a CSV, JSONL or Parquet file that is whole or not there; no cell of a CSV is a formula."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.files import target, write_whole
from askwise.pool.tables import header, neutral, records, restored
from askwise.pool.tables import rows as rows_of

FORMATS = (".csv", ".jsonl", ".parquet")


def table_format(path: Path) -> str:
    """The ending of a file that can be written."""
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise InputError(f"{path} must end in one of {', '.join(FORMATS)}, which says how it is written")
    return kind


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """The number of rows written; a value is text, a number, true or false, or nothing (None).

    A parent folder that is not there is made; a file that is there is replaced.
    """
    kind, whole = table_format(path), list(rows)
    write_whole(target(path), {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}[kind](columns, whole))
    return len(whole)


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a CSV or JSONL file with these columns, which `write_table` writes as they were.

    The cells of a CSV are text.
    """
    kind = table_format(path)
    if kind == ".parquet":
        raise InputError(f"rows cannot be appended to {path}; use .csv or .jsonl, or leave --append out")
    found = header(path)
    if found != ([neutral(name) for name in columns] if kind == ".csv" else list(columns)):
        raise InputError(
            f"{path} has other columns than the model now writes ({', '.join(found)}); "
            "leave --append out to write it anew"
        )
    return list(_read_csv(path, found, columns) if kind == ".csv" else _read_jsonl(path, columns))


def _read_csv(path: Path, found: list[str], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for row in rows_of(path, found):
        if row.reason is not None:
            raise InputError(f"{path}: {row.reason}; mend the line, or leave --append out")
        yield dict(zip(columns, map(restored, row.cells), strict=True))


def _read_jsonl(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for line, _, record in records(path):
        why = record if isinstance(record, str) else ""
        if not why and list(record) != list(columns):
            why = f"line {line} has other columns than the first"
        if why:
            raise InputError(f"{path}: {why}; mend the line, or leave --append out")
        yield record


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([neutral(name) for name in columns])
    writer.writerows([[_cell(row[name]) for name in columns] for row in rows])
    return text.getvalue().encode("utf-8", "surrogateescape")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return neutral(value) if isinstance(value, str) else repr(value)


def _jsonl(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    lines = (json.dumps({name: row[name] for name in columns}, allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _parquet(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({name: pyarrow.array([row[name] for row in rows]) for name in columns})
    sink = io.BytesIO()
    parquet.write_table(table, sink, write_page_checksum=True)  # damage is seen when it is read
    return sink.getvalue()

"""Rows into a CSV, JSONL or Parquet file that is whole or not there; no cell of a CSV is a formula."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.files import target, write_whole
from askwise.pool.tables import header, neutral, restored
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


def ids_in(path: Path, columns: Sequence[str]) -> set[str]:
    """The ids of the rows that a file has; one that these columns cannot be appended to is refused."""
    kind = table_format(path)
    if kind == ".parquet":
        raise InputError(f"rows cannot be appended to {path}; use .csv or .jsonl, or leave --append out")
    found, ids = header(path), columns[0]
    wanted = [neutral(name) for name in columns] if kind == ".csv" else list(columns)
    if list(found) != wanted:
        raise InputError(
            f"{path} has other columns than the model now writes ({', '.join(found)}); "
            "leave --append out to write it anew"
        )
    back = restored if kind == ".csv" else str
    return {back(row.cells[0]) for row in rows_of(path, [ids])}


def append_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """The number of rows written after those that a CSV or JSONL file has; it is whole, before or after."""
    whole, before = list(rows), path.read_bytes()
    if before and not before.endswith(b"\n"):
        before += b"\n"
    if table_format(path) == ".csv":
        more = _csv(columns, whole).partition(b"\n")[2] if whole else b""
    else:
        more = _jsonl(columns, whole)
    write_whole(path, before + more)
    return len(whole)


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

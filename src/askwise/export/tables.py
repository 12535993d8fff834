"""Rows into a CSV, JSONL or Parquet file that is whole or not there; no cell of a CSV is a formula."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.files import write_whole
from askwise.pool.cells import neutral

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
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}[kind](columns, whole))
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
    parquet.write_table(table, sink)
    return sink.getvalue()

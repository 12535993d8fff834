"""What of a store is at risk: for `askwise doctor`."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from askwise.store.lock import Holder, writer
from askwise.store.sql import SqlStore

_LOW = 500 * 2**20  # bytes: a few checkpoints of a large network


@dataclass(frozen=True)
class Health:
    """The state of a store's file, its disk and its lock, and what is wrong with them in plain words."""

    sqlite: str
    journal: str
    intact: bool
    free_bytes: int
    holder: Holder | None
    risks: tuple[str, ...]


def health(path: str | Path) -> Health:
    """How a store is; it reads every page of the file, and changes nothing."""
    SqlStore(path, read_only=True).close()  # refuses what is no store, by name
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA query_only=ON")
        journal = str(base.execute("PRAGMA journal_mode").fetchone()[0])
        intact = base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    free = shutil.disk_usage(Path(path).absolute().parent).free
    risks = []
    if not intact:
        risks.append(f"{path} is damaged; restore it from a copy")
    if journal != "delete":
        risks.append(f"journal mode is {journal}; SQLite {sqlite3.sqlite_version} is safest with delete")
    if free < _LOW:
        risks.append(f"only {free // 2**20} MB are free on its disk")
    return Health(sqlite3.sqlite_version, journal, intact, free, writer(Path(path).absolute()), tuple(risks))

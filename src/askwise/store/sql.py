"""Facts in SQLite, through SQLAlchemy Core."""

import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, inspect, literal_column, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from askwise.errors import StoreError
from askwise.store.checkpoints import keep as keep_folders
from askwise.store.checkpoints import write as write_folder
from askwise.store.contract import F
from askwise.store.facts import Fact, Item
from askwise.store.lock import Lock
from askwise.store.schema import TABLES, VERSION, commits, meta, metadata

_ROWS = 10_000  # rows sent to the database at a time: a million items are never held twice

DURABLE = "EXTRA"
"""SQLite's `synchronous` mode.

The rollback journal, not WAL: SQLite before 3.51.3 can corrupt a WAL that is reset while another
connection writes. In a rollback journal a commit is the deletion of the journal, and FULL does not
sync the folder after it: a power cut can bring the journal back, and with it undo an acknowledged
answer. EXTRA syncs the folder too.
"""


class SqlStore:
    """One SQLite file, one writing process, any number of readers."""

    def __init__(
        self, path: str | Path, *, read_only: bool = False, on_write: Callable[[str], None] | None = None
    ) -> None:
        self.path = Path(path).absolute()
        self.name = str(path)
        self.folder = self.path.with_name(self.path.name + ".checkpoints")
        self._on_write = on_write or (lambda _: None)
        self._thread = threading.RLock()
        self._engine = _engine(self.path, read_only)
        _check_path(self.path, read_only)
        with _told(self.name):
            self._lock = None if read_only else Lock(self.path)
            try:
                self._prepare(read_only)
            except BaseException:
                self.close()
                raise

    @property
    def revision(self) -> int:
        """The revision of the last append; 0 when there was none."""
        with self._reading() as connection:
            return connection.scalar(select(func.max(commits.c.revision))) or 0

    def append(self, facts: Iterable[Fact]) -> int:
        """The revision under which the facts are now on the disk."""
        with self._thread, _told(self.name):
            facts = iter(facts)
            first = next(facts, None)
            if first is None:
                return self.revision
            kind = type(first).__name__
            self._on_write(f"before {kind}")
            with self._writing() as connection:
                revision = self._insert(connection, first, facts)
                self._on_write(f"within {kind}")
            self._on_write(f"after {kind}")
            return revision

    def facts(self, kind: type[F], *, since: int = 0) -> list[F]:
        """All facts of one kind with a revision above `since`, in the order they were appended."""
        table = TABLES[kind]
        order = (
            select(table)
            .where(table.c.revision > since)
            .order_by(table.c.revision, literal_column(f"{table.name}.rowid"))
        )
        with self._reading() as connection:
            return [kind(**row) for row in connection.execute(order).mappings()]

    def ids(self) -> Iterator[str]:
        """The id of every item, without holding them all."""
        with self._reading() as connection:
            yield from connection.execute(select(TABLES[Item].c.id)).yield_per(_ROWS).scalars()

    def count(self) -> int:
        """How many items there are."""
        with self._reading() as connection:
            return connection.scalar(select(func.count()).select_from(TABLES[Item])) or 0

    def checkpoint(self, name: str, save: Callable[[Path], object], *, keep: Collection[str]) -> None:
        """Keep what `save` writes into a folder, on the disk when this returns, and of the others `keep`."""
        with _told(self.name):
            write_folder(self.folder, name, save, self._on_write)
            keep_folders(self.folder, {name, *keep})

    def exclusive(self) -> AbstractContextManager[object]:
        """Inside it no other thread appends."""
        return self._thread

    def close(self) -> None:
        """Let another process write."""
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _insert(self, connection: Connection, first: Fact, rest: Iterator[Fact]) -> int:
        revision = (connection.scalar(select(func.max(commits.c.revision))) or 0) + 1
        connection.execute(commits.insert(), {"revision": revision, "at": datetime.now(UTC).isoformat()})
        chunk = [first, *islice(rest, _ROWS - 1)]
        while chunk:
            for kind in dict.fromkeys(map(type, chunk)):
                rows = [asdict(fact) | {"revision": revision} for fact in chunk if type(fact) is kind]
                connection.execute(TABLES[kind].insert(), rows)
            chunk = list(islice(rest, _ROWS))
        return revision

    def _prepare(self, read_only: bool) -> None:
        with self._reading() as connection:
            tables = inspect(connection).get_table_names()
            if tables and "meta" not in tables:
                raise StoreError(f"{self.name} is a database of another program; choose another name")
            found = tables and connection.scalar(select(meta.c.value).where(meta.c.name == "schema"))
        if found and int(found) > VERSION:
            raise StoreError(
                f"store {self.name} has schema {found}, and this askwise knows up to {VERSION}; upgrade it"
            )
        if read_only:
            if not found:
                raise StoreError(f"{self.name} holds no run yet; start one first")
            return
        with self._writing() as connection:  # also proves now that the store can be written
            metadata.create_all(connection)
            if not found:
                connection.execute(meta.insert(), {"name": "schema", "value": str(VERSION)})

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with _told(self.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._lock is None:
            raise StoreError(f"store {self.name} is closed, or open for reading only")
        self._lock.check()
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection


def _engine(path: Path, read_only: bool) -> Engine:
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def _settings(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where the next listener says, not by guesswork
        if read_only:
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute(f"PRAGMA synchronous={DURABLE}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _check_path(path: Path, read_only: bool) -> None:
    if path.is_dir():
        raise StoreError(f"store {path} is a folder; give the name of a file, e.g. {path / 'run.db'}")
    if not path.exists() and read_only:
        raise StoreError(f"there is no store {path}")
    if not path.parent.is_dir():
        raise StoreError(f"the folder of store {path} does not exist; make it first: mkdir -p {path.parent}")
    target = path if path.exists() else path.parent
    if not read_only and not (os.access(target, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreError(
            f"store {path} is read-only; make {target} and its folder writable, or choose another"
        )


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Database errors as one clear line."""
    try:
        yield
    except IntegrityError as error:
        raise StoreError(f"store {name}: this fact is there already ({error.orig})") from error
    except (DBAPIError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error)
        hints = {
            "readonly": "make the file and its folder writable",
            "full": "free some space and run again: nothing acknowledged is lost",
            "not a database": "it is not an askwise store; choose another name",
            "locked": "another program keeps it busy; close that first",
        }
        hint = next((hint for word, hint in hints.items() if word in reason), "check the disk and run again")
        raise StoreError(f"store {name} cannot be used: {reason}; {hint}") from error
    except OSError as error:
        raise StoreError(f"store {name} cannot be used: {error.strerror or error}") from error

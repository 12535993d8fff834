"""SQLite and PostgreSQL: how each is opened, locks, tells the time, and what its errors mean."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, ColumnElement, Connection, Engine, create_engine, event, func, literal_column
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.pool import StaticPool

from askwise.errors import CorruptError, InputError, StoreError, command

DURABLE = "EXTRA"
"""SQLite's `synchronous` mode.

The rollback journal, not WAL: SQLite before 3.51.3 can corrupt a WAL that is reset while another
connection writes. In a rollback journal a commit is the deletion of the journal, and FULL does not
sync the folder after it: a power cut can bring the journal back, and with it undo an acknowledged
answer. EXTRA syncs the folder too.
"""

_WAIT = 120  # seconds that a writer waits for another; of twenty on a loaded machine some waited more than 30

POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")

SQLITE = sqlite3.sqlite_version
"""The version of SQLite that this Python brings."""
WAL_IS_SAFE = sqlite3.sqlite_version_info >= (3, 51, 3)
"""Earlier ones can corrupt a WAL that is reset while another connection writes."""


def is_url(target: str | Path) -> bool:
    """Whether a store is named by the address of a server."""
    return isinstance(target, str) and "://" in target


def server_url(target: str) -> tuple[URL, Path | None]:
    """The address of a PostgreSQL database, and the folder for checkpoints that is given with it."""
    try:
        url = make_url(target)
    except ArgumentError as error:
        raise InputError(f"store {target!r} is no address; write postgresql://user@host/name") from error
    if url.drivername not in POSTGRES:
        raise InputError(f"a store is a file or a postgresql:// address, not {url.drivername}://")
    folder = url.query.get("folder")
    if isinstance(folder, tuple):
        raise InputError(f"store {url.render_as_string()} names more than one folder; keep one")
    bare = url.set(drivername="postgresql+psycopg").difference_update_query(["folder"])
    return bare, None if folder is None else Path(folder).absolute()


def sqlite_engine(path: Path | None, *, read_only: bool) -> Engine:
    """A SQLite file; none means one in memory."""
    if path is None:
        engine = create_engine("sqlite://", connect_args={"check_same_thread": False}, poolclass=StaticPool)
    else:
        engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": _WAIT})

    @event.listens_for(engine, "connect")
    def _settings(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where the next listener says, not by guesswork
        if read_only and path is not None:
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute(f"PRAGMA synchronous={DURABLE}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def postgres_engine(url: URL) -> Engine:
    """A PostgreSQL database; what it has acknowledged is on its disk, whatever its settings say."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise InputError("a PostgreSQL store needs psycopg: pip install 'askwise[postgres]'") from error
    engine = create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit TO on")
            cursor.execute(f"SET lock_timeout TO '{_WAIT}s'")
            cursor.execute("SET jit TO off")  # compiling a query takes far longer than to run it once
        connection.commit()

    return engine


def now(connection: Connection) -> ColumnElement[float]:
    """The database's time in seconds: the clocks of annotators' machines differ."""
    if connection.dialect.name == "sqlite":
        return literal_column("((julianday('now') - 2440587.5) * 86400.0)")
    return func.extract("epoch", func.clock_timestamp()).cast(_double())


def _double() -> Any:
    from sqlalchemy import Double

    return Double


def check_path(path: Path, *, read_only: bool) -> None:
    """Refuse a path at which no store can be."""
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


_HINTS = {
    "readonly": "make the file and its folder writable",
    "full": "free some space and run again: nothing acknowledged is lost",
    "not a database": "it is not an askwise store; choose another name",
    "locked": "another program keeps it busy; close that first",
    "malformed": "save what is sound: askwise store recover",
    "decode": "save what is sound: askwise store recover",
    "connection": "see that the server runs, and send it again: what was acknowledged is safe",
}


@contextmanager
def told(name: str) -> Iterator[None]:
    """Database errors as one clear line."""
    try:
        yield
    except IntegrityError as error:
        reason = str(error.orig).splitlines()[0]
        raise StoreError(f"store {name}: this fact is there already ({reason})") from error
    except (DBAPIError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        hint = next((hint for word, hint in _HINTS.items() if word in reason), "check the disk and run again")
        raise StoreError(f"store {name} cannot be used: {reason}; {hint}") from error
    except OSError as error:
        raise StoreError(f"store {name} cannot be used: {error.strerror or error}") from error


@contextmanager
def sensible(name: str) -> Iterator[None]:
    """What a database gives that cannot even be read as text or numbers, as one clear line."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise CorruptError(
            f"store {name} is damaged: {error}; save the rest: {command('store', 'recover', name, 'NEW')}"
        ) from error

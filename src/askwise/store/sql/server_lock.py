"""One trainer for each PostgreSQL store: a lock of the server, held by a session until it ends."""

import os
from typing import Any

from sqlalchemy import Engine, func, select

from askwise.errors import InUseError
from askwise.store.facts import Role
from askwise.store.lock import hold, in_use, let_go
from askwise.store.sql.schema import TABLES

_SEED = 20_180_730  # tells this lock from others of the same server


class ServerLock:
    """Held until `release`, or until the session ends with its process; forked processes do not hold it."""

    def __init__(self, engine: Engine, *, name: str) -> None:
        self._pid = os.getpid()
        self._connection = engine.execution_options(isolation_level="AUTOCOMMIT").connect()
        key = func.hashtextextended(func.current_schema(), _SEED)
        if not self._connection.scalar(select(func.pg_try_advisory_lock(key))):
            holder = self._last_holder()
            self._connection.close()
            said = in_use(name, None)
            raise InUseError(said.replace("another process", holder) if holder else said)
        raw: Any = self._connection.connection.dbapi_connection
        self._connection.detach()  # it is no part of the pool any more
        self._file = raw.fileno()
        hold(self)

    def release(self) -> None:
        """Let another process train."""
        if let_go(self):
            self._connection.close()

    def close_in_child(self) -> None:
        """Cut a fork's copy of the session: it must end with its own process, not with a worker."""
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self._file)
        os.close(nothing)

    def _last_holder(self) -> str:
        try:
            table = TABLES[Role]
            order = select(table.c.holder).order_by(table.c.seq.desc()).limit(1)
            return str(self._connection.scalar(order) or "")
        except Exception:  # it is only a name for a message, and the tables may not be there yet
            return ""

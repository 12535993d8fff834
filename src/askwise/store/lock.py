"""One writer for each store: a file beside it that names the process, checked against the living."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from askwise.errors import StoreError


@dataclass(frozen=True)
class Holder:
    """The process that writes; `boot` and `start` tell it from a later process with the same number."""

    pid: int
    host: str
    boot: str
    start: str


class Lock:
    """Held from creation until `release`, or until its process is dead."""

    def __init__(self, store: Path) -> None:
        self.path = _path(store)
        self.holder = _this_process()
        with _opened(self.path) as file:
            other = _read(file)
            if other is not None and _alive(other):
                where = "this process" if other == self.holder else f"process {other.pid} on {other.host}"
                raise StoreError(
                    f"store {store} is in use by {where} (pid {other.pid}, host {other.host}); "
                    f"close it there first, or if that machine is gone delete {self.path}"
                )
            _write(file, json.dumps(asdict(self.holder)))

    def check(self) -> None:
        """Refuse to write for a process that only inherited the lock."""
        if os.getpid() != self.holder.pid:
            raise StoreError(
                f"{self.path} belongs to process {self.holder.pid}; open the store again in this one"
            )

    def release(self) -> None:
        """Let another process write; the empty file stays, so that nobody waits on a deleted one."""
        if os.getpid() != self.holder.pid:
            return
        with _opened(self.path) as file:
            if _read(file) == self.holder:
                _write(file, "")


def writer(store: Path) -> Holder | None:
    """The living process that writes to a store, if there is one."""
    try:
        with _path(store).open() as file:
            holder = _read(file)
    except OSError:
        return None
    return holder if holder is not None and _alive(holder) else None


def _path(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """The lock file, in the hands of one process at a time: two must not both find it stale."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _read(file: IO[str]) -> Holder | None:
    file.seek(0)
    try:
        return Holder(**json.loads(file.read()))
    except (ValueError, TypeError):  # empty, or cut off by a power cut: its writer is gone
        return None


def _write(file: IO[str], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def _this_process() -> Holder:
    return Holder(os.getpid(), socket.gethostname(), _boot(), _start(os.getpid()))


def _alive(holder: Holder) -> bool:
    """Whether the holder still runs; a process on another host is taken to be."""
    if holder.host != socket.gethostname():
        return True
    if holder.boot != _boot():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, and belongs to somebody else
    return _start(holder.pid) == holder.start


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When a process started, in ticks since the boot; empty where there is no /proc, or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]

"""One trainer for each store on a disk: a kernel lock on a file beside it, held until the process ends.

The kernel lets go of it when the process ends, however it ends, so that no lock is ever stale; it holds
for other names of the store (links are followed) and for other containers on the machine. The file is
none of SQLite's: closing any descriptor of a database drops the locks that SQLite holds on it.
"""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from askwise.errors import InUseError, StoreError
from askwise.files import leave_lock, take_lock

_PRIVATE = getattr(os, "O_CLOEXEC", 0)  # programs that are started do not have the file


@dataclass(frozen=True)
class Holder:
    """The process that trains, as it called itself: its number may mean another process in a container."""

    pid: int
    host: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Holder:
    """The present process."""
    return Holder(os.getpid(), socket.gethostname())


@runtime_checkable
class Held(Protocol):
    """A lock that this process holds and a forked one must not."""

    def close_in_child(self) -> None:
        """Close what a fork has copied: the lock must end with its own process, not with a worker."""


_held: set[Held] = set()


def hold(lock: Held) -> None:
    """Close the lock in every process that is forked from now on."""
    _held.add(lock)


def let_go(lock: Held) -> bool:
    """Whether this process held the lock; from now on it does not."""
    held = lock in _held
    _held.discard(lock)
    return held


def _after_fork() -> None:
    for lock in _held:
        lock.close_in_child()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Lock:
    """Held from creation until `release`, or until its process is dead; forked processes do not hold it."""

    def __init__(self, store: Path, *, name: str) -> None:
        self.path = _path(store)
        self.holder = this_process()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | _PRIVATE, 0o644)
        try:
            taken = take_lock(self._file, wait=False)
            other = None if taken else _read(self._file)
        except BaseException:
            os.close(self._file)
            raise
        if not taken:
            os.close(self._file)
            raise InUseError(in_use(name, other))
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, json.dumps(asdict(self.holder)).encode())
        hold(self)

    def release(self) -> None:
        """Let another process train; the file stays, so that nobody locks a deleted one."""
        if not let_go(self):
            return
        os.ftruncate(self._file, 0)
        leave_lock(self._file)
        os.close(self._file)

    def close_in_child(self) -> None:
        """Close what a fork has copied: the lock must end with its own process, not with a worker."""
        os.close(self._file)


def in_use(name: str, other: Holder | None) -> str:
    """What to say to a second trainer."""
    if other == this_process():
        return (
            f"store {name} is in use by this process (pid {os.getpid()}, host {socket.gethostname()}); "
            "close it first: learner.close()"
        )
    who = f"{other} (pid {other.pid}, host {other.host})" if other else "another process"
    return f"store {name} is in use by {who}; close it there first, or wait until it ends"


def trainer(store: Path) -> Holder | None:
    """The living process that trains on a store, if there is one; `Holder(0, "")` if it gave no name."""
    try:
        file = os.open(_path(store), os.O_RDWR | _PRIVATE)
    except OSError:
        return None
    try:
        if not take_lock(file, wait=False, shared=True):
            return _read(file) or Holder(0, "")
        return None
    finally:
        os.close(file)


def one_name(path: Path) -> Path:
    """The path with links followed; a file with a second name is refused, since SQLite's journal has one."""
    found = path.resolve()
    if found.exists() and found.stat().st_nlink > 1:
        raise StoreError(
            f"store {path} has {found.stat().st_nlink} names (hard links), and can be used under one only; "
            f"delete the others, or make a copy with a name of its own: cp {path} COPY"
        )
    return found


def _path(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


def _read(file: int) -> Holder | None:
    try:
        os.lseek(file, 0, os.SEEK_SET)
        return Holder(**json.loads(os.read(file, 4096)))
    except (ValueError, TypeError):  # not written yet
        return None

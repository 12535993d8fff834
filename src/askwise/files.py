"""Files that are whole or not there, written and synced before they get their name; and locks on files."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EISDIR
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Condition
from typing import Any, Literal

from askwise.errors import PathError

fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None
"""The kernel's locks; none where the system is no Unix."""
_turn = Condition()
_held: set[tuple[int, int]] = set()


def sync(path: Path) -> None:
    """Make sure that a file or the names in a folder are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # such a system opens no folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def refusing(path: str | Path, deed: Literal["read", "written"]) -> Iterator[None]:
    """Refuse in one line, by the path as it was given, what the system does not let be read or written."""
    try:
        yield
    except OSError as error:
        reason = error.reason if isinstance(error, PathError) else error.strerror or str(error)
        raise PathError(f"{path} cannot be {deed}: {reason}", reason) from error


def target(path: str | Path) -> Path:
    """The path of a file to write, in a folder that is made; one that cannot be written is refused.

    To be asked before the work whose result the file is to hold.
    """
    place = Path(path)
    with refusing(path, "written"):
        if place.is_dir():
            raise IsADirectoryError(EISDIR, "it is a folder; name a file in it")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(place.parent, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    return place


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is whole and on the disk, or not there at all."""
    draft = path.with_suffix(path.suffix + ".part")
    with refusing(path, "written"):
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is no such file or no object in it."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def take_lock(file: int, *, wait: bool = True, shared: bool = False) -> bool:
    """Lock an open file, and return whether that worked; with `wait` it waits until the others are done.

    A lock of the kernel, which ends with its process. Where there is none it holds among the threads of
    this process alone, and two processes must not write to the same store.
    """
    if fcntl is not None:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
    found = os.fstat(file)
    key = (found.st_dev, found.st_ino)
    with _turn:
        while key in _held:
            if not wait:
                return False
            _turn.wait()
        if not shared:
            _held.add(key)
    return True


def leave_lock(file: int) -> None:
    """Release the lock; call it before the file is closed."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    found = os.fstat(file)
    with _turn:
        _held.discard((found.st_dev, found.st_ino))
        _turn.notify_all()

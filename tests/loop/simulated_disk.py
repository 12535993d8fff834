"""A disk that forgets: file operations are recorded, and any power cut is played back from them.

`main` appends answers to a store, or runs a small loop with checkpoints, leases and added items, under a
recording VFS, and prints the record. The model: what was written and not yet synced may
be lost, wholly or in part; a name that was given, changed or deleted may not have been, until its folder
is synced.
"""

import ctypes as c
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PTR = c.c_void_p
_FULL = 13  # SQLITE_FULL


class IoMethods(c.Structure):
    _fields_ = [("iVersion", c.c_int), *((f"m{i}", PTR) for i in range(18))]


class Vfs(c.Structure):
    _fields_ = [
        ("iVersion", c.c_int),
        ("szOsFile", c.c_int),
        ("mxPathname", c.c_int),
        ("pNext", PTR),
        ("zName", c.c_char_p),
        ("pAppData", PTR),
        ("xOpen", PTR),
        ("xDelete", PTR),
        *((f"m{i}", PTR) for i in range(14)),
    ]


# names as bare pointers: SQLite keeps them, so a copy would not do
OPEN = c.CFUNCTYPE(c.c_int, PTR, PTR, c.POINTER(PTR), c.c_int, c.POINTER(c.c_int))
DELETE = c.CFUNCTYPE(c.c_int, PTR, PTR, c.c_int)
WRITE = c.CFUNCTYPE(c.c_int, PTR, PTR, c.c_int, c.c_int64)
TRUNCATE = c.CFUNCTYPE(c.c_int, PTR, c.c_int64)
SYNC = c.CFUNCTYPE(c.c_int, PTR, c.c_int)


class Recorder:
    """Stands between SQLite and the real VFS, and notes what would change the disk."""

    def __init__(self) -> None:
        self.events: list[list[object]] = []
        self.before_write: Callable[[], bool] = lambda: False
        """Asked before every write whether the disk is full."""
        self._names: dict[int, str] = {}
        self._alive: list[object] = []  # what SQLite points to must not be collected
        lib = c.CDLL("libsqlite3.so.0")
        lib.sqlite3_vfs_find.restype = c.POINTER(Vfs)
        self._real = lib.sqlite3_vfs_find(None)
        own = Vfs.from_buffer_copy(self._real.contents)
        own.zName = b"recorder"
        self._open = OPEN(self._real.contents.xOpen)
        self._delete = DELETE(self._real.contents.xDelete)
        callbacks = OPEN(self._on_open), DELETE(self._on_delete)
        own.xOpen, own.xDelete = (c.cast(callback, PTR) for callback in callbacks)
        self._alive += [own, *callbacks]
        lib.sqlite3_vfs_register(c.byref(own), 1)

    def _on_open(self, vfs, name, file, flags, out):
        path = Path(c.string_at(name).decode()) if name else None
        created = path is not None and not path.exists()
        code = self._open(c.cast(self._real, PTR), name, file, flags, out)
        if code == 0 and path is not None:
            if created:
                self.events.append(["create", path.name])
            self._names[c.cast(file, PTR).value] = path.name
            file[0] = self._recording(file[0])
        return code

    def _on_delete(self, vfs, name, sync_folder):
        code = self._delete(c.cast(self._real, PTR), name, sync_folder)
        if code == 0:
            self.events.append(["delete", Path(c.string_at(name).decode()).name])
            if sync_folder:
                self.events.append(["sync folder", ""])
        return code

    def _recording(self, methods: int) -> int:
        own = IoMethods.from_buffer_copy(c.cast(methods, c.POINTER(IoMethods)).contents)
        write, truncate, sync = WRITE(own.m2), TRUNCATE(own.m3), SYNC(own.m4)

        def on_write(file, data, size, offset):
            if self.before_write():
                return _FULL
            self.events.append(["write", self._names[file], offset, c.string_at(data, size).hex()])
            return write(file, data, size, offset)

        def on_truncate(file, size):
            self.events.append(["truncate", self._names[file], size])
            return truncate(file, size)

        def on_sync(file, flags):
            self.events.append(["sync", self._names[file]])
            if self._names[file].endswith("-journal"):  # the unix VFS syncs the folder of a new journal
                self.events.append(["sync folder", ""])
            return sync(file, flags)

        callbacks = WRITE(on_write), TRUNCATE(on_truncate), SYNC(on_sync)
        own.m2, own.m3, own.m4 = (c.cast(callback, PTR).value for callback in callbacks)
        self._alive += [own, *callbacks]
        return c.addressof(own)


class Watched:
    """Notes what Python writes into some folders: it looks at every fsync, rename and deletion."""

    def __init__(self, root: Path, folders: list[str], events: list[list[object]]) -> None:
        self._root, self._folders, self._events = root, folders, events
        self._known: dict[str, tuple[int, int] | None] = {}
        fsync, rename, rmtree = os.fsync, os.rename, shutil.rmtree

        def on_fsync(file: int) -> None:
            path = Path(f"/proc/self/fd/{file}").readlink()
            self._look()
            fsync(file)
            if path == root or self._name(path) in self._known:
                events.append(["sync folder" if path.is_dir() else "sync", self._name(path)])

        def on_rename(old: Any, new: Any) -> None:
            self._look()
            rename(old, new)
            before, after = self._name(Path(old)), self._name(Path(new))
            if before in self._known:
                events.append(["rename", before, after])
                moved = {name: self._known.pop(name) for name in list(self._known) if _inside(name, before)}
                self._known |= {after + name[len(before) :]: value for name, value in moved.items()}

        def on_rmtree(path: Any, *rest: Any, **more: Any) -> None:
            self._look()
            rmtree(path, *rest, **more)
            self._look()

        os.fsync, os.rename, shutil.rmtree = on_fsync, on_rename, on_rmtree

    def _name(self, path: Path) -> str:
        return "" if path == self._root else os.path.relpath(path, self._root)

    def _look(self) -> None:
        """Events for what has been made, deleted or written since the last look."""
        now: dict[str, tuple[int, int] | None] = {}
        for home in (self._root / folder for folder in self._folders):
            for path in [home, *sorted(home.rglob("*"))] if home.exists() else []:
                found = path.stat()
                now[self._name(path)] = None if path.is_dir() else (found.st_size, found.st_mtime_ns)
        for name in sorted(self._known.keys() - now.keys(), reverse=True):
            self._events.append(["delete", name])
        for name, stamp in now.items():
            if name not in self._known:
                self._events.append(["mkdir" if stamp is None else "create", name])
            if stamp is not None and self._known.get(name) != stamp:
                content = (self._root / name).read_bytes()
                self._events.append(["truncate", name, len(content)])
                for at in range(0, len(content), 4096):
                    self._events.append(["write", name, at, content[at : at + 4096].hex()])
        self._known = now


def _inside(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


class File:
    """What is in a file, and what of it is on the disk."""

    def __init__(self) -> None:
        self.content, self.synced = bytearray(), b""
        self.pending: list[tuple[int, bytes | None]] = []

    def change(self, offset: int, data: bytes | None) -> None:
        _apply(self.content, offset, data)
        self.pending.append((offset, data))

    def sync(self) -> None:
        self.synced, self.pending = bytes(self.content), []

    def cut(self, path: Path, chance: random.Random | None) -> None:
        content = bytearray(self.synced)
        for offset, data in self.pending:
            if chance and chance.random() < 0.5:
                _apply(content, offset, data)
        path.write_bytes(content)


class Folder:
    """The names in a folder, and which of them are on the disk."""

    def __init__(self) -> None:
        self.live: dict[str, File | Folder] = {}
        self.safe: dict[str, File | Folder] = {}

    def sync(self) -> None:
        self.safe = dict(self.live)

    def cut(self, path: Path, chance: random.Random | None) -> None:
        path.mkdir(exist_ok=True)
        for name, one in (self.live if chance and chance.random() < 0.5 else self.safe).items():
            one.cut(path / name, chance)


class Disk:
    """What is in the files (live) and what a power cut leaves of it."""

    def __init__(self) -> None:
        self._root = Folder()

    def play(self, event: list) -> None:
        match event:
            case ["create", name]:
                self._folder(name).live[Path(name).name] = File()
            case ["mkdir", name]:
                self._folder(name).live[Path(name).name] = Folder()
            case ["delete", name]:
                del self._folder(name).live[Path(name).name]
            case ["rename", old, new]:
                self._folder(new).live[Path(new).name] = self._folder(old).live.pop(Path(old).name)
            case ["sync folder" | "sync", name]:
                self._at(name).sync()
            case ["write", name, offset, data]:
                self._at(name).change(offset, bytes.fromhex(data))
            case ["truncate", name, size]:
                self._at(name).change(size, None)

    def _at(self, name: str) -> Any:
        place: Any = self._root
        for part in Path(name).parts:
            place = place.live[part]
        return place

    def _folder(self, name: str) -> Folder:
        return self._at(str(Path(name).parent))

    def cut(self, folder: Path, chance: random.Random | None) -> None:
        """Write what survives: only what was synced, or with `chance` also some of the rest."""
        self._root.cut(folder, chance)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def answers(path: Path, mode: str, recorder: Recorder) -> None:
    """Eight answers, each noted once it is acknowledged."""
    from askwise.store.facts import Answer
    from askwise.store.sql import SqlStore, connecting

    connecting.DURABLE = mode
    store = SqlStore(path)
    for number in range(8):
        store.answer([Answer(id=f"item-{number}", key="k", verdict="label", label=number)])
        recorder.events.append(["acknowledged", "answer", f"item-{number}", number])
    store.close()


def loop(path: Path, events: list[list[object]]) -> None:
    """A small run to its end, in which others hold leases and answer, and items are added."""
    from small_run import CLASSES, IDS, POINTS, TRUTH, learner, pool

    from askwise.engine import Local
    from askwise.store.contract import Taker
    from askwise.store.facts import Answer
    from askwise.store.sql import SqlStore

    def noted(*what: object) -> None:
        events.append(["acknowledged", *what])

    with learner(path, engine=Local(1), keep=1, pool=pool(POINTS[:30], IDS[:30]), test=None) as run:
        if not any(name in run.pool for name in IDS[30:40]):
            run.add(pool(POINTS[30:40], IDS[30:40]))
        noted("added", *IDS[30:40])
        other = SqlStore(path, access="answer")
        while questions := run.ask():
            for one in run.rounds():
                noted("round", one.number, one.checkpoint)
            lease = other.lease(Taker("ann", seconds=3600))
            if lease is not None:
                noted("leased", lease.token)
                told = CLASSES.index(TRUTH[lease.question.id])
                question = lease.question.question
                one = Answer(
                    id=lease.question.id,
                    key="k",
                    verdict="label",
                    label=told,
                    question=question,
                    annotator="ann",
                )
                events.append(["given up", lease.token])  # by then nobody relies on it
                other.answer([one])
                noted("answer", one.id, told)
            held = other.lease(Taker("ben", seconds=3600))
            if held is not None:  # and keeps it
                noted("leased", held.token)
            for one in questions:
                run.tell({one.id: TRUTH[one.id]}, key="page")
                noted("answer", one.id, CLASSES.index(TRUTH[one.id]))
        other.close()


def main(folder: Path, mode: str) -> None:
    """Print the record of the answers under one of SQLite's modes, or with the mode `loop` of a whole run.

    In a process of its own: nothing in it is what it was afterwards.
    """
    recorder, path = Recorder(), folder / "run.db"
    if mode == "loop":
        Watched(folder, ["run.db.checkpoints", "run.db.added"], recorder.events)
        loop(path, recorder.events)
    else:
        answers(path, mode, recorder)
    sys.stdout.write(json.dumps(recorder.events))

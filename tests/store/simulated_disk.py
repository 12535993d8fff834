"""A disk that forgets: SQLite's file operations are recorded, and any power cut is played back from them.

Run as a program it appends facts to a store under a recording VFS and prints the record. The model:
what was written and not yet synced may be lost, wholly or in part; a file that was created or deleted
may not have been, until its folder is synced.
"""

import ctypes as c
import json
import random
import sys
from pathlib import Path

PTR = c.c_void_p


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
                self.events.append(["sync folder"])
        return code

    def _recording(self, methods: int) -> int:
        own = IoMethods.from_buffer_copy(c.cast(methods, c.POINTER(IoMethods)).contents)
        write, truncate, sync = WRITE(own.m2), TRUNCATE(own.m3), SYNC(own.m4)

        def on_write(file, data, size, offset):
            self.events.append(["write", self._names[file], offset, c.string_at(data, size).hex()])
            return write(file, data, size, offset)

        def on_truncate(file, size):
            self.events.append(["truncate", self._names[file], size])
            return truncate(file, size)

        def on_sync(file, flags):
            self.events.append(["sync", self._names[file]])
            if self._names[file].endswith("-journal"):  # the unix VFS syncs the folder of a new journal
                self.events.append(["sync folder"])
            return sync(file, flags)

        callbacks = WRITE(on_write), TRUNCATE(on_truncate), SYNC(on_sync)
        own.m2, own.m3, own.m4 = (c.cast(callback, PTR).value for callback in callbacks)
        self._alive += [own, *callbacks]
        return c.addressof(own)


class Disk:
    """What is in the files (live) and what a power cut leaves of it."""

    def __init__(self) -> None:
        self._live: dict[str, int] = {}
        self._safe: dict[str, int] = {}
        self._content: list[bytearray] = []
        self._synced: list[bytes] = []
        self._pending: list[list[tuple[int, bytes | None]]] = []

    def play(self, event: list) -> None:
        match event:
            case ["create", name]:
                self._live[name] = len(self._content)
                self._content.append(bytearray())
                self._synced.append(b"")
                self._pending.append([])
            case ["delete", name]:
                del self._live[name]
            case ["sync folder"]:
                self._safe = dict(self._live)
            case ["write", name, offset, data]:
                self._change(self._live[name], offset, bytes.fromhex(data))
            case ["truncate", name, size]:
                self._change(self._live[name], size, None)
            case ["sync", name]:
                number = self._live[name]
                self._synced[number], self._pending[number] = bytes(self._content[number]), []

    def _change(self, number: int, offset: int, data: bytes | None) -> None:
        _apply(self._content[number], offset, data)
        self._pending[number].append((offset, data))

    def cut(self, folder: Path, chance: random.Random | None) -> None:
        """Write what survives: only what was synced, or with `chance` also some of the rest."""
        folder.mkdir()
        names = self._live if chance and chance.random() < 0.5 else self._safe
        for name, number in names.items():
            content = bytearray(self._synced[number])
            for offset, data in self._pending[number]:
                if chance and chance.random() < 0.5:
                    _apply(content, offset, data)
            (folder / name).write_bytes(content)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def main(path: str, mode: str, count: int) -> None:
    recorder = Recorder()
    from askwise.store.facts import Answer
    from askwise.store.sql import SqlStore, connecting

    connecting.DURABLE = mode
    store = SqlStore(path)
    for number in range(count):
        store.answer([Answer(id=f"item-{number}", key="k", verdict="label", label=number)])
        recorder.events.append(["acknowledged", number])
    store.close()
    sys.stdout.write(json.dumps(recorder.events))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

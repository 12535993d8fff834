"""Finished shards in a file: a job that is killed and started again computes only what is missing.

A file is frames, only ever appended: length (8 bytes), SHA-256 of all else in the frame (32), key of
the shard (32), result. A frame whose sum is wrong is as if it were not there. Nothing waits for the
disk: what a power cut takes is computed again.
"""

import json
import os
import re
import struct
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from askwise.engine.contract import Engine, Shard, ShardResult, Work
from askwise.engine.messages import pack, unpack
from askwise.errors import CorruptError, InputError, StoreError

_LENGTH = struct.Struct("<Q")
_SUM = 32
_HEAD = _LENGTH.size + 2 * _SUM
_SUFFIX = ".shards"


def remembered(engine: Engine, folder: Path | None, key: str) -> Engine:
    """The engine, with finished shards kept in the folder until the job of that key is complete.

    A key stands for one job, that is one call of `map`: the same work with the same inputs.
    Without a folder, the engine as it is.

    >>> from pathlib import Path
    >>> from askwise.engine import Local, ShardResult, Work, remembered
    >>> engine = remembered(Local(processes=1), Path("finished"), "squares")
    >>> squares = Work(fetch=torch.tensor, compute=lambda shard: ShardResult((shard**2,)))
    >>> [part.tensors[0].tolist() for part in engine.map(lambda: squares, [[1, 2], [3]])]
    [[1, 4], [9]]
    """
    if folder is None:
        return engine
    if not re.fullmatch(r"[\w-][\w.-]{0,199}", key, re.ASCII):
        raise InputError(f"the key of a job names a file, so it is letters, digits, '-' and '_', not {key!r}")
    return Remembered(engine, folder, key)


@dataclass(frozen=True)
class Remembered:
    """An engine with a journal of one job."""

    engine: Engine
    folder: Path
    key: str

    @property
    def name(self) -> str:
        """Its name in a plan."""
        return self.engine.name

    @property
    def workers(self) -> int:
        """How many shards are computed at a time."""
        return self.engine.workers

    @property
    def threads(self) -> int:
        """How many threads compute a shard."""
        return self.engine.threads

    def map(self, make: Callable[[], Work], shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """The result of each shard, in order: read where it is known, computed and written where not."""
        path = self.folder / f"{self.key}{_SUFFIX}"
        with closing(_Journal(path)) as journal:
            rest = ((shard_key(self.key, shard), shard) for shard in shards)
            for key, shard in rest:
                if key not in journal:  # from here on there is something to compute
                    yield from self._mixed(make, chain([(key, shard)], rest), journal)
                    break
                yield journal.read(key)
        for old in self.folder.glob(f"*{_SUFFIX}"):
            old.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's files are in it
            self.folder.rmdir()

    def _mixed(
        self, make: Callable[[], Work], shards: Iterable[tuple[bytes, Shard]], journal: "_Journal"
    ) -> Iterator[ShardResult]:
        """The engine sees the missing shards alone; the others take their places in between."""
        taken: deque[tuple[bytes, bool]] = deque()  # and whether it was known then

        def missing() -> Iterator[Shard]:
            for key, shard in shards:
                taken.append((key, key in journal))
                if not taken[-1][1]:
                    yield shard

        def known() -> Iterator[ShardResult]:
            while taken and taken[0][1]:
                yield journal.read(taken.popleft()[0])

        computed = self.engine.map(make, missing())
        try:
            for found in computed:
                yield from known()
                journal.write(taken.popleft()[0], found)
                yield found
            yield from known()
        finally:
            if isinstance(computed, Generator):
                computed.close()  # now, not when somebody finds it: it has workers


def shard_key(job: str, shard: Shard) -> bytes:
    """The key under which the result of a shard is kept."""
    return sha256(json.dumps(["askwise shards 1", job, shard]).encode()).digest()


class _Journal:
    """The file of one job, open for reading and appending."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[bytes, tuple[int, int]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
            self._end, total = self._scan(), os.fstat(self._file.fileno()).st_size
            if self._end < total:  # a broken tail would hide what is appended behind it
                self._file.truncate(self._end)
        except OSError as error:
            raise self._refused(error) from error

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def read(self, key: bytes) -> ShardResult:
        """The result kept under a key that is in the journal."""
        start, size = self._places[key]
        frame = self._at(start, _HEAD + size)
        if not _sound(frame):
            raise CorruptError(f"{self._path} changed while it was read; delete it, and start again")
        return unpack(frame[_HEAD:])

    def write(self, key: bytes, found: ShardResult) -> None:
        """Keep a result; when this returns, it outlives the process."""
        content = pack(found)
        checked = _LENGTH.pack(len(content)), key + content
        frame = checked[0] + sha256(b"".join(checked)).digest() + checked[1]
        try:
            self._file.seek(self._end)
            written = 0
            while written < len(frame):
                written += self._file.write(memoryview(frame)[written:]) or 0
        except OSError as error:
            raise self._refused(error) from error
        self._places[key] = self._end, len(content)
        self._end += len(frame)

    def _scan(self) -> int:
        """Find every sound frame; the end of the last one."""
        total, at, end = os.fstat(self._file.fileno()).st_size, 0, 0
        while at + _HEAD <= total:
            (size,) = _LENGTH.unpack(self._at(at, _LENGTH.size))
            if size > total - at - _HEAD:
                break
            frame = self._at(at, _HEAD + size)
            if _sound(frame):
                self._places[frame[_HEAD - _SUM : _HEAD]] = at, size
                end = at + len(frame)
            at += _HEAD + size
        return end

    def _at(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        parts = bytearray()
        while len(parts) < size and (part := self._file.read(size - len(parts))):
            parts += part
        return bytes(parts)

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self._path} cannot be written: {error.strerror}; make room, or choose another place"
        )


def _sound(frame: bytes) -> bool:
    start, stop = _LENGTH.size, _LENGTH.size + _SUM
    return sha256(frame[:start] + frame[stop:]).digest() == frame[start:stop]

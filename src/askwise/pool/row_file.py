"""Rows of features in a file; a damaged one is as if it were not there.

A file is a header and records of one size: key (16 bytes), row (float32), checksum (8 bytes). The
header names the encoder and the width, and the checksums depend on it. Records are only ever
appended, and of two with one key the later holds: so a writer that is killed leaves at most a part
of a record at the end, which the next writer cuts off.
"""

import mmap
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b, shake_128
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt32, UInt64

from askwise.errors import InputError, SlowPathWarning
from askwise.files import leave_lock, take_lock

_KEY = 16  # bytes: no two of a trillion items meet
_HEADER = 64
_NAME = _KEY // 4  # words of 32 bits in a key
_STRIDE = 512  # rows taken at a time: they stay in the processor's cache

Found = tuple[Bool[np.ndarray, " N"], Float32[np.ndarray, "n D"]]
"""Which of the wanted rows are there, and those."""


def row_key(identity: str, stamp: str) -> bytes:
    """The key of an item with this id and this stamp of its content."""
    text = f"{len(stamp)} {stamp} {identity}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()


class FileRows:
    """Rows of one encoder and one width; several processes may share the folder."""

    def __init__(self, folder: Path, *, encoder: str, width: int) -> None:
        self.path = folder / f"{encoder}-{width}.rows"
        self._header = f"askwise features 1 {sys.byteorder} {encoder} {width}".encode().ljust(_HEADER)
        self._width = width
        self._checked = _NAME + width  # words that the checksum covers
        self._record = 4 * (self._checked + 2)  # bytes
        seeds = np.frombuffer(shake_128(self._header).digest(8 * self._checked + 8), np.uint64)
        self._factors, self._offset = seeds[:-1] | np.uint64(1), seeds[-1]
        self._writes = True
        self._open()

    def _open(self) -> None:
        _check_folder(self.path.parent)
        self._clear()
        self._refresh()

    def __getstate__(self) -> dict[str, Any]:
        """All but the open file, which another process opens for itself."""
        mapped = ("_map", "_words", "_place", "_file")
        return {name: value for name, value in vars(self).items() if name not in mapped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()

    def find(self, keys: Sequence[bytes]) -> Found:
        """Which rows are there and sound, and those, in the order of the keys."""
        if self._map is not None and self._map.size() < self._end(len(self._words)):
            self._refresh()  # somebody has cut the file, and what is gone must not be touched
        places = self._places(keys)
        if self._writes and (places < 0).any() and self._refresh():
            places = self._places(keys)  # another process may have appended them
        there = places >= 0
        known, places = there.nonzero()[0], places[there]
        if not len(places):
            return there, np.empty((0, self._width), np.float32)
        names = np.frombuffer(b"".join([keys[at] for at in known.tolist()]), np.uint32).reshape(-1, _NAME)
        rows, sound = np.empty((len(places), self._width), np.uint32), np.empty(len(places), bool)
        for start in range(0, len(places), _STRIDE):
            some = slice(start, start + _STRIDE)
            words = self._words[places[some]]
            sound[some] = (words[:, :_NAME] == names[some]).all(axis=1)
            sound[some] &= self._sums(words[:, : self._checked]) == _whole(words[:, self._checked :])
            rows[some] = words[:, _NAME : self._checked]
        for at in known[~sound].tolist():
            self._place.pop(keys[at], None)  # to be computed and appended anew
        there[known[~sound]] = False
        return there, (rows if sound.all() else rows[sound]).view(np.float32)

    def has(self, keys: Sequence[bytes]) -> Bool[np.ndarray, " N"]:
        """Which rows are there; whether they are sound shows when they are read."""
        if self._writes:
            self._refresh()
        return self._places(keys) >= 0

    def add(self, keys: Sequence[bytes], rows: Float32[np.ndarray, "N D"]) -> None:
        """Append these rows, unless another process has by now; a full disk costs a warning."""
        if not self._writes:
            return
        try:
            with _locked(self.path.parent):
                fresh = not self._refresh()
                new = [at for at, key in enumerate(keys) if key not in self._place]
                self._write(self._records([keys[at] for at in new], rows[new]), fresh=fresh)
                self._refresh()
        except OSError as error:
            self._writes = False
            warnings.warn(
                f"features are not kept: {self.path} takes no more ({error.strerror or error})",
                SlowPathWarning,
                stacklevel=2,
            )

    def forget(self) -> None:
        """Begin a new file; a process that reads the old one may go on with it."""
        self._clear()
        try:
            with _locked(self.path.parent):
                self.path.unlink(missing_ok=True)
        except OSError:
            self._writes = False  # the old file stays, so it must not be opened again

    def _places(self, keys: Sequence[bytes]) -> Int64[np.ndarray, " N"]:
        return np.fromiter((self._place.get(key, -1) for key in keys), np.int64, len(keys))

    def _clear(self) -> None:
        self._place: dict[bytes, int] = {}
        self._map: mmap.mmap | None = None
        self._file = (0, 0)
        self._words = np.empty((0, self._checked + 2), np.uint32)

    def _end(self, count: int) -> int:
        return _HEADER + count * self._record

    def _refresh(self) -> bool:
        """Map what has been appended since; whether there is a file of ours at all."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                ours = file.read(_HEADER) == self._header
                count = (status.st_size - _HEADER) // self._record if ours else 0
                this = status.st_dev, status.st_ino
                if this != self._file or count < len(self._words):
                    self._clear()
                self._file = this
                self._take_in(file.fileno(), count)
                return ours
        except FileNotFoundError:
            self._clear()
            return False

    def _take_in(self, file: int, count: int) -> None:
        known = len(self._words)
        if count == known:
            return
        self._map = mmap.mmap(file, self._end(count), access=mmap.ACCESS_READ)
        self._words = np.frombuffer(self._map, np.uint32, offset=_HEADER).reshape(count, -1)
        names = np.array(self._words[known:, :_NAME]).view(f"V{_KEY}")[:, 0].tolist()
        self._place.update(zip(names, range(known, count), strict=True))

    def _write(self, records: bytes, *, fresh: bool) -> None:
        if fresh:  # it gets its name when it is whole: nobody reads half a header
            draft = self.path.with_suffix(".part")
            draft.write_bytes(self._header + records)
            draft.replace(self.path)
            return
        with self.path.open("r+b") as file:
            end = self._end((file.seek(0, os.SEEK_END) - _HEADER) // self._record)
            file.truncate(end)
            file.seek(end)
            file.write(records)

    def _records(self, keys: Sequence[bytes], rows: Float32[np.ndarray, "N D"]) -> bytes:
        words = np.empty((len(keys), self._checked + 2), np.uint32)
        words[:, :_NAME] = np.frombuffer(b"".join(keys), np.uint32).reshape(len(keys), _NAME)
        words[:, _NAME : self._checked] = np.ascontiguousarray(rows).view(np.uint32)
        sums = self._sums(words[:, : self._checked])
        words[:, self._checked] = sums & np.uint64(2**32 - 1)
        words[:, self._checked + 1] = sums >> np.uint64(32)
        return words.tobytes()

    def _sums(self, words: UInt32[np.ndarray, "N W"]) -> UInt64[np.ndarray, " N"]:
        """Words times odd factors, modulo 2^64: no change of a single word leaves the sum as it was."""
        sums: np.ndarray = np.einsum("nw,w->n", words.astype(np.uint64), self._factors) + self._offset
        return sums


def _whole(halves: UInt32[np.ndarray, "N 2"]) -> UInt64[np.ndarray, " N"]:
    low, high = halves[:, 0].astype(np.uint64), halves[:, 1].astype(np.uint64)
    found: np.ndarray = low + (high << np.uint64(32))
    return found


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the feature cache {folder} is a file; give a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the feature cache {folder} cannot be made: {error.strerror or error}") from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(f"the feature cache {folder} is not writable; make it so, or give another folder")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time, also among threads and forked processes: each opens the lock for itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        take_lock(file.fileno())
        try:
            yield
        finally:  # by word, not by closing: a process forked meanwhile has the file open, too
            leave_lock(file.fileno())

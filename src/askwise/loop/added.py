"""Items that are added to a run are kept beside the store, in `run.db.added` for `run.db`."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askwise.errors import CorruptError, StoreError
from askwise.files import sync
from askwise.pool import Pool
from askwise.pool.arrays import ArraySource
from askwise.store.contract import Store

_CHUNK = 256  # items held at a time
_Place = tuple[int, str | None]  # the row among what was added with it, and the name
_ITEMS, _IDS, _DRAFT = "items.npy", "ids.json", ".part"


class KeptSource(ArraySource):
    """What was added, with the rows and names it had then."""

    def __init__(
        self, items: np.ndarray, ids: Sequence[str], *, first: int, places: Sequence[_Place], length: int
    ) -> None:
        super().__init__(items, scale=None, ids=ids)
        self.first, self.length = first, length
        self.rows = [row for row, _ in places]
        self._names = {name: own for name, (_, own) in zip(ids, places, strict=True)}

    def name(self, identity: str) -> str | None:
        """What people called the item; None where that is its row."""
        return self._names[identity]


def keep_added(store: Store, pool: Pool, ids: Sequence[str], *, first: int) -> None:
    """Write these items of a pool beside the store, whole and on the disk, or not at all.

    `first` is the row that the pool's first item gets in the run.
    """
    home = _home(store)
    if home is None or not ids:
        return
    try:
        home.mkdir(exist_ok=True)
        draft = home / _DRAFT
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        good = _write(draft / _ITEMS, pool, ids)
        places = [(pool.row(name), pool.own_name(name)) for name in good]
        record: dict[str, Any] = {"ids": good, "first": first, "places": places, "length": pool.rows}
        record["sha256"] = _digest(draft / _ITEMS)
        record["sum"] = _sum(record)
        (draft / _IDS).write_text(json.dumps(record), encoding="utf-8")
        for path in (draft / _ITEMS, draft / _IDS, draft):
            sync(path)
        draft.rename(home / f"{sum(1 for _ in _parts(home)):04d}")
        sync(home)
    except OSError as error:
        raise StoreError(f"the items cannot be kept in {home}: {error.strerror or error}") from error


def added(store: Store) -> Iterator[KeptSource]:
    """Everything that was added to a run before, in order; what was damaged since is refused by name."""
    home = _home(store)
    if home is None or not home.is_dir():
        return
    for part in _parts(home):
        try:
            record = json.loads((part / _IDS).read_bytes())
            ids, wanted, known = record["ids"], record["sha256"], record.pop("sum")
            places, first, length = record["places"], record["first"], record["length"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptError(f"{part / _IDS} is damaged; restore it from a copy") from error
        if _sum(record) != known:
            raise CorruptError(f"{part / _IDS} is not the file that was saved; restore it from a copy")
        if not (part / _ITEMS).is_file() or _digest(part / _ITEMS) != wanted:
            raise CorruptError(f"{part / _ITEMS} is not the file that was saved; restore it from a copy")
        if ids:
            items = np.load(part / _ITEMS, mmap_mode="r", allow_pickle=False)[: len(ids)]
            yield KeptSource(items, ids, first=first, places=places, length=length)


def _write(path: Path, pool: Pool, ids: Sequence[str]) -> list[str]:
    """The ids of the items that could be read, in the order of their rows."""
    like = pool.like().numpy()
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=(len(ids), *like.shape))
    good: list[str] = []
    for start in range(0, len(ids), _CHUNK):
        reading = pool.read(list(ids[start : start + _CHUNK]))
        rows[len(good) : len(good) + len(reading.ids)] = reading.inputs.numpy()
        good += reading.ids
    rows.flush()
    return good


def _home(store: Store) -> Path | None:
    return None if store.folder is None else store.folder.with_suffix(".added")


def _parts(home: Path) -> list[Path]:
    return sorted(path for path in home.iterdir() if path.name != _DRAFT)


def _sum(record: dict[str, Any]) -> str:
    """What shows that an id or a row has changed."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Items as a frozen encoder sees them: computed once, then read from the disk."""

import copy
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, SupportsIndex
from weakref import finalize

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor, nn

from askwise.errors import InputError
from askwise.math.digest import network_digest
from askwise.pool.encoding import BATCH, alone, encode, feature_width
from askwise.pool.ids import of_array
from askwise.pool.pool import Pool
from askwise.pool.row_file import FileRows, Found, row_key
from askwise.pool.source import Reading, Source

_BYTES = 32 * 2**20  # of items held at a time
_CHUNK = 1024  # items computed between two appends: what a kill can cost


def features(pool: Any, encoder: Any, *, cache: str | Path | None = None) -> "FeaturePool":
    """A pool with the same ids whose items are the encoder's outputs [D]; it grows with `pool`.

    They are computed when first read, and kept in the folder `cache`, or in a temporary one that goes
    with the pool. They are found by the encoder's structure and weights, the item's id and its content:
    where any of it has changed they are computed anew, and so they are where the disk has damaged them.

    >>> encoder = torch.nn.Linear(4, 2).requires_grad_(False)
    >>> pool = aw.pool.features(aw.pool.arrays(x), encoder, cache="features")  # computed once, then read
    >>> pool[:5].shape
    torch.Size([5, 2])
    """
    if not isinstance(pool, Pool):
        raise InputError(f"features are made of a pool, not of a {type(pool).__name__}; see aw.pool.arrays")
    width = feature_width(encoder, pool.like())
    own = copy.deepcopy(encoder).eval()  # a later change of the given one must not mix with what is kept
    folder = Path(mkdtemp(prefix="askwise-features-") if cache is None else cache)
    kept = FileRows(folder, encoder=network_digest(own, weights=True), width=width)
    if cache is None:  # a file all the same: forked workers share what each of them computes
        finalize(kept, _remove, folder, os.getpid())
    return FeaturePool(pool, FeatureSource(pool, own, kept, width=width))


class FeatureSource:
    """The features of a pool's items."""

    def __init__(self, items: Pool, encoder: nn.Module, kept: FileRows, *, width: int) -> None:
        self._items, self._encoder, self._kept, self._width = items, encoder, kept, width
        self._rank: dict[str, int] = {}
        self._proved = False

    @property
    def ids(self) -> Sequence[str]:
        """Every id, those of bad items included."""
        return list(self._items.ids)

    @property
    def quarantined(self) -> dict[str, str]:
        """The items that are known to be bad before they are read, and why."""
        return self._items.quarantined

    def like(self) -> Tensor:
        """As many numbers as there are features."""
        return torch.zeros(self._width)

    def read(self, ids: Sequence[str]) -> Reading:
        """The features as one tensor: those that are kept, and the others computed."""
        stamps = self._items.stamps(ids)
        rows = np.empty((len(ids), self._width), np.float32)
        good = np.zeros(len(ids), bool)
        known = [at for at, stamp in enumerate(stamps) if stamp is not None]
        if known:
            keys = [row_key(ids[at], stamps[at] or "") for at in known]
            there, found = self._recall([ids[at] for at in known], keys)
            if len(found) == len(ids):
                return Reading(list(ids), torch.from_numpy(found), {})
            good[known] = there
            rows[good] = found
        bad: dict[str, str] = {}
        for some in self._chunks((~good).nonzero()[0].tolist()):
            reading = self._items.read([ids[at] for at in some])
            bad |= reading.quarantined
            read = [at for at in some if ids[at] not in reading.quarantined]
            if read:
                rows[read] = self._computed(reading, [stamps[at] for at in read])
                good[read] = True
        return Reading([ids[at] for at in good.nonzero()[0].tolist()], torch.from_numpy(rows[good]), bad)

    def kept(self, ids: Sequence[str]) -> Bool[np.ndarray, " N"]:
        """Which features need not be computed any more."""
        stamps = self._items.stamps(ids)
        there = self._kept.has([row_key(name, stamp or "") for name, stamp in zip(ids, stamps, strict=True)])
        found: np.ndarray = there & np.array([stamp is not None for stamp in stamps], bool)
        return found

    def _computed(self, reading: Reading, stamps: Sequence[str | None]) -> Float32[np.ndarray, "N D"]:
        """The features of items that have been read; where only that tells their content, some are kept."""
        keys = [
            row_key(identity, of_array(item.numpy()) if stamp is None else stamp)
            for identity, item, stamp in zip(reading.ids, reading.inputs, stamps, strict=True)
        ]
        unknown = np.array([stamp is None for stamp in stamps])
        there = np.zeros(len(keys), bool)
        rows = np.empty((len(keys), self._width), np.float32)
        if unknown.any():
            there, found = self._recall(reading.ids, keys)
            rows[there] = found
        new = (~there).nonzero()[0]
        if len(new):
            ranks = self._ranks([reading.ids[at] for at in new.tolist()])
            rows[new] = encode(self._encoder, reading.inputs[torch.from_numpy(new)], ranks=ranks).numpy()
            lasting = new[np.isfinite(rows[new]).all(axis=1)]  # the pool says what is wrong with others
            self._kept.add([keys[at] for at in lasting], rows[lasting])
        return rows

    def _recall(self, ids: Sequence[str], keys: Sequence[bytes]) -> Found:
        """What is kept under these keys.

        The first row that is found is computed once more: code that has changed under the same
        structure and weights shows nowhere else.
        """
        there, found = self._kept.find(keys)
        if self._proved or not len(found):
            return there, found
        inputs = self._items.read([ids[int(there.argmax())]]).inputs
        if len(inputs):
            now = alone(self._encoder, inputs).numpy()[0]
            self._proved = True
            if not np.allclose(found[0], now, rtol=1e-2, atol=1e-3 * float(np.abs(now).max())):
                self._kept.forget()
                return np.zeros_like(there), found[:0]
        return there, found

    def _ranks(self, ids: Sequence[str]) -> list[int]:
        if len(self._rank) != len(self._items):
            self._rank = {identity: rank for rank, identity in enumerate(self._items.ids)}
        return [self._rank[identity] for identity in ids]

    def _chunks(self, places: list[int]) -> Iterator[list[int]]:
        like = self._items.like()
        fit = _BYTES // max(1, like.numel() * like.element_size())
        size = max(BATCH, min(_CHUNK, fit))
        for start in range(0, len(places), size):
            yield places[start : start + size]


class FeaturePool(Pool):
    """A pool of features beside the pool of the items themselves: whichever grows, both do."""

    def __init__(self, items: Pool, source: FeatureSource) -> None:
        self._items, self._features = items, source
        self._sources, self._firsts = [source], [0]

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, identity: object) -> bool:
        return identity in self._items

    @property
    def ids(self) -> Collection[str]:
        """Every id, quarantined ones included, in the order of arrival."""
        return self._items.ids

    def row(self, identity: str) -> int:
        """The position of the item in the pool."""
        return self._items.row(identity)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._items.rows

    def name(self, identity: str) -> str:
        """What people call the item."""
        return self._items.name(identity)

    def own_name(self, identity: str) -> str | None:
        """The file of the item or its first words; None where it is called by its row."""
        return self._items.own_name(identity)

    def find(self, key: str | SupportsIndex) -> str:
        """The id of an item from its id, row or name."""
        return self._items.find(key)

    def lookup(self, key: object) -> str | None:
        """The id of an item from its id, row or name; None where no item is called so, or several are."""
        return self._items.lookup(key)

    def again(self, path: str | Path) -> Pool:
        """Other items, not features, read as those of this pool are."""
        return self._items.again(path)

    def unlike(self, identity: str) -> str | None:
        """Why an item is like none that the model can know."""
        return self._items.unlike(identity)

    def preparation(self) -> dict[str, Any]:
        """How the items themselves are read."""
        return self._items.preparation()

    def add(self, more: Source | Pool) -> list[str]:
        """The ids that are new; what is added are items, not features."""
        return self._items.add(more._items if isinstance(more, FeaturePool) else more)

    def parts(self, ids: Collection[str]) -> list[tuple[Source, list[str]]]:
        """The sources of the items themselves."""
        return self._items.parts(ids)

    def kept(self, ids: Sequence[str]) -> Bool[np.ndarray, " N"]:
        """Which of these items have features already; reading them computes nothing."""
        self._items.check(ids)
        return self._features.kept(ids)

    def unreadable(self, ids: Sequence[str]) -> dict[str, str]:
        """Which of these items cannot be read, and why; nothing is encoded."""
        return self._items.read(ids).quarantined

    def read(self, ids: Collection[str]) -> Reading:
        """The features as one tensor; bad items are left out by name and reason."""
        self._items.check(ids)
        return self._read_source(self._sources[0], list(ids))


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process ends earlier, and would take it from its parent
        shutil.rmtree(folder, ignore_errors=True)

"""The items that may be asked about: stable ids, and one way to read them all."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count, islice, takewhile
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.pool.ids import numbered_as, of_array
from askwise.pool.source import (
    Again,
    Comparing,
    Named,
    Original,
    Placed,
    Prepared,
    Reading,
    Source,
    Stamped,
    described,
)

_LOOKED_AT = 20_000  # names, to say which is nearest to a wrong one


@dataclass(frozen=True)
class Item:
    """One item: its row in the pool, what people call it, and what the network sees of it."""

    id: str
    row: int
    """Its position in the array, file or folder: `x[row]`. Rows of what was added go on after them."""
    name: str
    """The file, or the first words of a text; `x[7]` for row 7 of an array."""
    source: int
    """Which of the pool's sources it came from, counted from 0."""
    inputs: Tensor


class Pool:
    """Items from one or more sources under stable ids; it can grow, and never renumbers.

    >>> pool = aw.pool.arrays(x, ids=range(60))
    >>> pool.find(7), pool.item("7").name, len(pool.read(["7", "8"]).inputs)
    ('7', 'x[7]', 2)
    """

    def __init__(self, source: Source) -> None:
        self._sources: list[Source] = []
        self._firsts: list[int] = []
        self._end = 0
        self._owner: dict[str, int] = {}
        self._rows: dict[int, dict[str, int]] = {}
        self._names: dict[str, str | None] = {}
        self._named = 0
        self.add(source)

    def __repr__(self) -> str:
        """How many items there are, and how many of them are known to be bad."""
        bad = len(self.quarantined)
        return f"{type(self).__name__}({len(self):,} items{f', {bad:,} of them unreadable' if bad else ''})"

    def __getitem__(self, rows: slice) -> Tensor:
        """Some of the items in the order of arrival; one that cannot be read is refused by its name."""
        return self.inputs(list(islice(self.ids, *rows.indices(len(self)))))

    def inputs(self, ids: Sequence[str]) -> Tensor:
        """These items as one tensor; one that cannot be read is refused by its name."""
        reading = self.read(ids)
        for bad, why in reading.quarantined.items():
            raise InputError(f"item {self.name(bad)!r} cannot be read: {why}; leave it out")
        return reading.inputs

    def item(self, key: str | int) -> Item:
        """One item by its id, its row or its name."""
        identity = self.find(key)
        [inputs] = self.inputs([identity])
        return Item(identity, self.row(identity), self.name(identity), self._owner[identity], inputs)

    def row(self, identity: str) -> int:
        """The position of an item in the pool; rows of what was added go on where the others end."""
        number = self._owner[identity]
        if number not in self._rows:
            source, first = self._sources[number], self._firsts[number]
            places = source.rows if isinstance(source, Placed) else count()
            self._rows[number] = {name: first + place for name, place in zip(source.ids, places)}  # noqa: B905
        return self._rows[number][identity]

    @property
    def rows(self) -> int:
        """How many rows there are: those of items that were here already count where they were added."""
        return self._end

    def name(self, identity: str) -> str:
        """What people call an item: its file, its first words, or its row."""
        own = self.own_name(identity)
        return f"x[{self.row(identity)}]" if own is None else own

    def own_name(self, identity: str) -> str | None:
        """The file of an item or its first words; None where it is called by its row."""
        source = self._sources[self._owner[identity]]
        return source.name(identity) if isinstance(source, Named) else None

    def original(self, identity: str) -> Path | str | None:
        """The file of a picture, or a text itself; none where items are rows of numbers."""
        [(source, _)] = self.parts([identity])
        return source.original(identity) if isinstance(source, Original) else None

    def unlike(self, identity: str) -> str | None:
        """Why an item is like none that the model can know, in words; None where nothing says so."""
        [(source, _)] = self.parts([identity])
        return source.unlike(identity) if isinstance(source, Comparing) else None

    def find(self, key: str | SupportsIndex) -> str:
        """The id of an item, from its id, its row, or a name that is unique."""
        found = self.lookup(key)
        if found is None:
            row = self._number(key)
            why = self._known(str(key)) if row is None else self._no_row(row)
            raise InputError(f"{why}; call it by its id, row or name")
        return found

    def lookup(self, key: object) -> str | None:
        """The id of an item, as `find` has it; None where no item is called so, or several are."""
        if isinstance(key, str) and key in self:
            return key
        row = self._number(key)
        return self._by_name(str(key)) if row is None else self._by_row(row)

    def by_id(self, told: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """What is told by id, row or name, by id; keys that name no item stay as they are."""
        if all(isinstance(key, str) and key in self for key in told):
            return told
        found: dict[Any, Any] = {}
        for key, value in told.items():
            identity = self.lookup(key) or key
            if identity in found:
                raise InputError(f"item {identity!r} is told twice, once as {key!r}; tell it once")
            found[identity] = value
        return found

    def equal(self, rows: np.ndarray) -> list[str]:
        """The items with the contents of these rows, copies too, where ids are made from contents."""
        found: list[str] = []
        for one in dict.fromkeys(map(of_array, rows)):
            found += takewhile(self.__contains__, (numbered_as(one, time) for time in count(1)))
        return found

    def typed(self, word: str) -> str:
        """The id of an item as a person types it: an id, a row, or a name; an id may look like a row."""
        return self.find(int(word) if word.isdecimal() and word not in self else word)

    def again(self, path: str | Path) -> "Pool":
        """Other items from a folder or file, read as this pool's own are."""
        source = self._sources[0]
        if not isinstance(source, Again):
            raise InputError(f"items like these are not read from {path}; pass them as a tensor or an array")
        return Pool(source.again(Path(path)))

    def preparation(self) -> dict[str, Any]:
        """How items are read, as a saved model keeps it; empty where the source cannot say."""
        source = self._sources[0]
        return source.preparation() if isinstance(source, Prepared) else {}

    @staticmethod
    def _number(key: object) -> int | None:
        """The row that a key is; numpy's numbers too."""
        return index(key) if isinstance(key, SupportsIndex) and not isinstance(key, bool) else None

    def _by_row(self, row: int) -> str | None:
        if not 0 <= row < self._end:
            return None
        number = bisect_right(self._firsts, row) - 1
        source, place = self._sources[number], row - self._firsts[number]
        if isinstance(source, Placed):
            at = bisect_left(source.rows, place)
            place = at if at < len(source.rows) and source.rows[at] == place else len(source.ids)
        return source.ids[place] if place < len(source.ids) else None

    def _no_row(self, row: int) -> str:
        """Why no item is found at a row."""
        if not 0 <= row < self._end:
            return f"the pool has the rows 0 to {self._end - 1}, and no row {row}"
        return f"row {row} is of an item that the store does not keep"

    def _by_name(self, name: str) -> str | None:
        """The item with a name, whole or without its folders; None where no item or several have it."""
        if self._named < len(self):
            for identity in islice(self.ids, self._named, None):
                whole = self.name(identity)
                for known in {whole, whole.rpartition("/")[2]}:
                    self._names[known] = None if known in self._names else identity
            self._named = len(self)
        return self._names.get(name)

    def _known(self, key: str) -> str:
        """Why no item is found, and the nearest there is."""
        if key in self._names:
            return f"several items are called {key!r}"
        if key.isdecimal() and int(key) < len(self):
            return f"the pool has no item {key!r} (a row is named by a number, in a file in a column row)"
        few = list(islice(self._names, _LOOKED_AT)) + list(islice(self._owner, _LOOKED_AT))
        near = get_close_matches(key, few, n=1, cutoff=0.75)
        return f"the pool has no item {key!r}" + (f" (the nearest is {near[0]!r})" if near else "")

    def __len__(self) -> int:
        return len(self._owner)

    def __contains__(self, identity: object) -> bool:
        return identity in self._owner

    @property
    def ids(self) -> Collection[str]:
        """Every id, quarantined ones included, in the order of arrival."""
        return self._owner.keys()

    @property
    def quarantined(self) -> dict[str, str]:
        """The items that are known to be bad before they are read, and why."""
        return {identity: why for source in self._sources for identity, why in source.quarantined.items()}

    def like(self) -> Tensor:
        """What every item looks like: its shape and type count, its values do not."""
        return self._sources[0].like()

    def add(self, more: "Source | Pool") -> list[str]:
        """The ids that are new; items that are here already are left as they are.

        The rows of what is added go on where the pool's end; what brings nothing new takes none.
        """
        new: list[str] = []
        start, end = self._end, self._end
        parts = zip(more._sources, more._firsts, strict=True) if isinstance(more, Pool) else [(more, 0)]
        for source, first in parts:
            if not source.ids:
                raise InputError("there are no items; check the folder, file or array they should come from")
            if self._sources and described(source.like()) != described(self.like()):
                wanted, found = described(self.like()), described(source.like())
                raise InputError(
                    f"the pool's items are {wanted}, and the added ones {found}; make them alike"
                )
            number = len(self._sources)
            mine = [name for name in source.ids if self._owner.setdefault(name, number) == number]
            if not mine:
                continue
            new += mine
            if source is more and isinstance(source, Placed):
                start = max(start, source.first)
            self._sources.append(source)
            self._firsts.append(start + first)
            end = start + (more.rows if isinstance(more, Pool) else _length(source))
        self._end = end
        return new

    def read(self, ids: Collection[str]) -> Reading:
        """The items as one tensor; bad ones are left out by name and reason, and change no other."""
        self.check(ids)
        found = [self._read_source(source, mine) for source, mine in self.parts(ids)]
        if len(found) == 1:
            return found[0]
        bad = {identity: why for part in found for identity, why in part.quarantined.items()}
        if not found:
            return Reading([], self.like().new_empty((0, *self.like().shape)), bad)
        arrived = [identity for part in found for identity in part.ids]
        place = {identity: position for position, identity in enumerate(arrived)}
        good = [identity for identity in ids if identity in place]
        inputs = torch.cat([part.inputs for part in found])
        return Reading(good, inputs[[place[identity] for identity in good]], bad)

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """For each item what changes with its content; None where only reading it would tell."""
        parts = self.parts(ids)
        found: dict[str, str | None] = {}
        for source, mine in parts:
            stamps = source.stamps(mine) if isinstance(source, Stamped) else [None] * len(mine)
            if len(parts) == 1:
                return stamps
            found.update(zip(mine, stamps, strict=True))
        return [found[identity] for identity in ids]

    def parts(self, ids: Collection[str]) -> list[tuple[Source, list[str]]]:
        """The sources of these items, each with its own."""
        found: dict[int, list[str]] = {}
        for identity in ids:
            found.setdefault(self._owner[identity], []).append(identity)
        return [(self._sources[number], mine) for number, mine in found.items()]

    def check(self, ids: Collection[str]) -> None:
        """Refuse an id that is not in the pool."""
        for identity in ids:
            if identity not in self:
                raise InputError(f"the pool has no item {identity!r}")

    @staticmethod
    def _read_source(source: Source, ids: list[str]) -> Reading:
        known = source.quarantined
        part = source.read([identity for identity in ids if identity not in known] if known else ids)
        bad = {identity: known[identity] for identity in ids if identity in known} | part.quarantined
        # a sum is finite only if all numbers are, and costs a tenth of looking at each
        if not part.inputs.is_floating_point() or bool(part.inputs.sum().isfinite()):
            return Reading(part.ids, part.inputs, bad)
        finite = part.inputs.reshape(len(part.ids), -1).isfinite().all(dim=1)
        if bool(finite.all()):
            return Reading(part.ids, part.inputs, bad)
        kept = finite.tolist()
        bad |= {
            name: "it holds NaN or infinite numbers"
            for name, ok in zip(part.ids, kept, strict=True)
            if not ok
        }
        good = [name for name, ok in zip(part.ids, kept, strict=True) if ok]
        return Reading(good, part.inputs[finite], bad)


def _length(source: Source) -> int:
    return source.length if isinstance(source, Placed) else len(source.ids)

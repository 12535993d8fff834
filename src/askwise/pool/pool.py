"""The items that may be asked about: stable ids, and one way to read them all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from askwise.errors import InputError


@dataclass(frozen=True)
class Reading:
    """Items as tensors, in the order they were wanted, and those that could not be read."""

    ids: list[str]
    inputs: Tensor
    quarantined: dict[str, str]


@runtime_checkable
class Source(Protocol):
    """Where items come from: one file of this folder for each kind."""

    @property
    def ids(self) -> Sequence[str]:
        """Every id, those of bad items included."""

    @property
    def quarantined(self) -> Mapping[str, str]:
        """The items that are known to be bad before they are read, and why."""

    def like(self) -> Tensor:
        """What every item looks like: its shape and type count, its values do not."""

    def read(self, ids: Sequence[str]) -> Reading:
        """The items that are not known to be bad, as one tensor."""


@runtime_checkable
class Stamped(Protocol):
    """A source that can tell without reading an item whether it is still the same."""

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """For each item what changes with its content; None where only reading it would tell."""


class Pool:
    """Items from one or more sources under stable ids; it can grow, and never renumbers."""

    def __init__(self, source: Source) -> None:
        self._sources: list[Source] = []
        self._owner: dict[str, int] = {}
        self.add(source)

    def __len__(self) -> int:
        return len(self._owner)

    def __contains__(self, identity: object) -> bool:
        return identity in self._owner

    @property
    def ids(self) -> Iterator[str]:
        """Every id, quarantined ones included, in the order of arrival."""
        return iter(self._owner)

    @property
    def quarantined(self) -> dict[str, str]:
        """The items that are known to be bad before they are read, and why."""
        return {identity: why for source in self._sources for identity, why in source.quarantined.items()}

    def like(self) -> Tensor:
        """What every item looks like: its shape and type count, its values do not."""
        return self._sources[0].like()

    def add(self, more: "Source | Pool") -> list[str]:
        """The ids that are new; items that are here already are left as they are."""
        new: list[str] = []
        for source in more._sources if isinstance(more, Pool) else [more]:
            if not source.ids:
                raise InputError("there are no items; check the folder, file or array they should come from")
            if self._sources and _describe(source.like()) != _describe(self.like()):
                wanted, found = _describe(self.like()), _describe(source.like())
                raise InputError(
                    f"the pool's items are {wanted}, and the added ones {found}; make them alike"
                )
            number = len(self._sources)
            self._sources.append(source)
            new += [name for name in source.ids if self._owner.setdefault(name, number) == number]
        return new

    def read(self, ids: Sequence[str]) -> Reading:
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

    def parts(self, ids: Sequence[str]) -> list[tuple[Source, list[str]]]:
        """The sources of these items, each with its own."""
        found: dict[int, list[str]] = {}
        for identity in ids:
            found.setdefault(self._owner[identity], []).append(identity)
        return [(self._sources[number], mine) for number, mine in found.items()]

    def check(self, ids: Sequence[str]) -> None:
        """Refuse an id that is not in the pool."""
        strange = next((identity for identity in ids if identity not in self), None)
        if strange is not None:
            raise InputError(f"the pool has no item {strange!r}")

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


def stack(items: Mapping[str, Tensor | str], like: Tensor) -> Reading:
    """Single tensors as one; those that look otherwise, and those that are a reason, are left out."""
    bad: dict[str, str] = {}
    rows: dict[str, Tensor] = {}
    for identity, item in items.items():
        if isinstance(item, str):
            bad[identity] = item
        elif (item.shape, item.dtype) != (like.shape, like.dtype):
            bad[identity] = f"it is {_describe(item)}, and the pool's items are {_describe(like)}"
        else:
            rows[identity] = item
    inputs = torch.stack(list(rows.values())) if rows else like.new_empty((0, *like.shape))
    return Reading(list(rows), inputs, bad)


def _describe(item: Tensor) -> str:
    return f"{str(item.dtype).removeprefix('torch.')} of shape {tuple(item.shape)}"

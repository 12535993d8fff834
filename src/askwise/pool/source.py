"""What a source of items can do; a pool is one or several of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor


@dataclass(frozen=True)
class Reading:
    """Items as tensors, in the order they were wanted, and those that could not be read."""

    ids: list[str]
    inputs: Tensor
    quarantined: dict[str, str]


@runtime_checkable
class Source(Protocol):
    """Where items come from; each kind of source is one file of this folder."""

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
class Named(Protocol):
    """A source whose items have names that people know: files, texts."""

    def name(self, identity: str) -> str | None:
        """What a person calls the item; None where that is its row."""


@runtime_checkable
class Again(Protocol):
    """A source that can read another folder or file the same way."""

    def again(self, path: Path) -> Source:
        """The items there, read as these are."""


@runtime_checkable
class Original(Protocol):
    """A source whose items people can look at as they are."""

    def original(self, identity: str) -> Path | str:
        """The file of a picture, or a text itself."""


@runtime_checkable
class Comparing(Protocol):
    """A source that can say which items are like none that were there first."""

    def unlike(self, identity: str) -> str | None:
        """Why an item is; None where it is not."""


@runtime_checkable
class Prepared(Protocol):
    """A source that can say how it reads items, so that others are read the same way later."""

    def preparation(self) -> dict[str, Any]:
        """The kind of items and every option, as JSON holds them; `prepared` reads by it."""


@runtime_checkable
class Stamped(Protocol):
    """A source that can tell without reading an item whether it is still the same."""

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """For each item what changes with its content; None where only reading it would tell."""


@runtime_checkable
class Placed(Protocol):
    """A source whose items keep the rows they had among others, which are not here any more."""

    first: int
    """The row that the first of them all had in the pool."""
    rows: Sequence[int]
    """Where each item was among them all, in ascending order."""
    length: int
    """How many they were."""


def stack(items: Mapping[str, Tensor | str], like: Tensor) -> Reading:
    """Single tensors as one; those of another shape or type, and reasons in their place, are left out."""
    bad: dict[str, str] = {}
    rows: dict[str, Tensor] = {}
    for identity, item in items.items():
        if isinstance(item, str):
            bad[identity] = item
        elif (item.shape, item.dtype) != (like.shape, like.dtype):
            bad[identity] = f"it is {described(item)}, and the pool's items are {described(like)}"
        else:
            rows[identity] = item
    inputs = torch.stack(list(rows.values())) if rows else like.new_empty((0, *like.shape))
    return Reading(list(rows), inputs, bad)


def described(item: Tensor) -> str:
    """Type and shape of an item, in words."""
    return f"{str(item.dtype).removeprefix('torch.')} of shape {tuple(item.shape)}"

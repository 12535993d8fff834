"""Items from a torch Dataset."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.pool.ids import given, numbered, of_array
from askwise.pool.pool import Pool
from askwise.pool.source import Reading, stack

_PLACE = "entry-"


@runtime_checkable
class MapDataset(Protocol):
    """What a map-style torch Dataset offers."""

    def __len__(self) -> int:
        """How many items there are."""

    def __getitem__(self, position: int) -> Any:
        """One item, or a tuple that begins with it."""


class DatasetSource:
    """One item for each entry; labels beside it are not looked at."""

    def __init__(self, entries: MapDataset, *, ids: Iterable[object] | None) -> None:
        self._entries = entries
        self.quarantined: dict[str, str] = {}
        self.ids: Sequence[str] = given(ids, len(entries)) if ids is not None else list(self._derive())
        self._position = {identity: position for position, identity in enumerate(self.ids)}
        self._by_contents = ids is None

    @cache  # noqa: B019 - a source lives as long as its pool
    def like(self) -> Tensor:
        """The first entry that can be read."""
        for position in range(len(self._entries)):
            if isinstance(item := _item(self._entries, position), Tensor):
                return item
        raise InputError(f"no entry of the dataset can be read; the first: {_item(self._entries, 0)}")

    def read(self, ids: Sequence[str]) -> Reading:
        """The entries as one tensor, and those that cannot be read."""
        return stack({name: _item(self._entries, self._position[name]) for name in ids}, self.like())

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """Nothing beyond an id that is made from the contents; others tell nothing."""
        return [None if not self._by_contents or name.startswith(_PLACE) else "" for name in ids]

    def _derive(self) -> Iterator[str]:
        if len(self._entries) and not _same(_item(self._entries, 0), _item(self._entries, 0)):
            raise InputError(
                "the dataset gives other values each time it is read; turn augmentation off, or pass ids="
            )
        return numbered(self._identity(position) for position in range(len(self._entries)))

    def _identity(self, position: int) -> str:
        item = _item(self._entries, position)
        # an entry without contents can only be named by its place
        return of_array(item.numpy()) if isinstance(item, Tensor) else f"{_PLACE}{position}"


def dataset(entries: Any, *, ids: Iterable[object] | None = None) -> Pool:
    """A pool with one item for each entry of a torch Dataset: its tensor, or the first of its tuple.

    Ids are made from the contents, which reads every entry once; pass `ids` to spare that.

    >>> pool = aw.pool.dataset(torch.utils.data.TensorDataset(x, y))
    >>> pool.item(3).inputs.equal(x[3])
    True
    """
    if not hasattr(entries, "__getitem__") or not hasattr(entries, "__len__"):
        raise InputError("a pool wants a dataset with a length and entries by number, not an iterable one")
    return Pool(DatasetSource(entries, ids=ids))


def _item(entries: MapDataset, position: int) -> Tensor | str:
    try:
        entry = entries[position]
    except Exception as error:  # whatever a user's code raises for one entry must not stop the others
        return f"entry {position} cannot be read: {type(error).__name__}: {error}"
    first = entry[0] if isinstance(entry, tuple | list) and len(entry) else entry
    if not isinstance(first, Tensor):
        return f"entry {position} is a {type(first).__name__}, not a tensor; add a transform to the dataset"
    tensor = first.detach().cpu()
    return tensor.float() if tensor.is_floating_point() else tensor


def _same(one: Tensor | str, two: Tensor | str) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return True
    return one.shape == two.shape and torch.equal(one.nan_to_num(), two.nan_to_num())

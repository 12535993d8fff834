"""Whatever holds items, as rows: a tensor, an array, a torch Dataset or DataLoader, a pool, a table."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from askwise.errors import InputError


@runtime_checkable
class Rows(Protocol):
    """Items that are read or made when they are needed: a length, and slices that are arrays or tensors."""

    def __len__(self) -> int:
        """How many items there are."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Some of them."""


Inputs: TypeAlias = Tensor | NDArray[Any] | Rows | Dataset[Any] | DataLoader[Any]
"""Items [N, ...] in memory, memory-mapped or made on the way: only a shard at a time is read."""


class _Entries:
    """The items of a torch Dataset, without the labels that may stand beside them."""

    def __init__(self, entries: Any) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, rows: slice, /) -> Tensor:
        return stacked("items", [self._item(at) for at in range(*rows.indices(len(self)))])

    def _item(self, at: int) -> Tensor:
        entry = self._entries[at]
        first = entry[0] if isinstance(entry, tuple | list) and len(entry) else entry
        try:
            return torch.as_tensor(first)
        except (TypeError, ValueError, RuntimeError):
            kind = type(first).__name__
            raise InputError(
                f"item {at} of the dataset is a {kind}, not a tensor; add a transform to it"
            ) from None


def stacked(name: str, parts: Sequence[Tensor]) -> Tensor:
    """The tensors of single items as one; they must have one shape."""
    for at, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise InputError(
                f"{name} must have one shape; the first is {list(parts[0].shape)} and the one at "
                f"position {at} is {list(part.shape)}"
            )
    return torch.stack(list(parts)) if parts else torch.empty(0)


def as_rows(inputs: Any) -> Tensor | NDArray[Any] | Rows:
    """The items as something with a length and slices; what holds no items is refused."""
    found = _rows(inputs)
    if isinstance(found, Tensor | np.ndarray) and (found.ndim == 0 or len(found) == 0):
        raise InputError(f"inputs must hold at least one item [N, ...]; their shape is {list(found.shape)}")
    if not len(found):
        raise InputError("inputs must hold at least one item [N, ...]; they are empty")
    one = found[0:1]
    if not isinstance(one, Tensor | np.ndarray) or len(one) != 1:
        raise InputError(f"a slice of the inputs must be a tensor or an array, not {type(one).__name__}")
    return found


def read(inputs: Tensor | NDArray[Any] | Rows, start: int, stop: int) -> Tensor:
    """Items from start to stop, in memory."""
    part = inputs[start:stop]
    if isinstance(part, Tensor):
        return part
    if part.dtype.kind not in "biuf":
        raise InputError(f"inputs must be numbers, not {part.dtype}")
    return torch.from_numpy(np.array(part))


def _rows(inputs: Any) -> Tensor | NDArray[Any] | Rows:
    if isinstance(inputs, Tensor | np.ndarray):
        return inputs
    if isinstance(inputs, DataLoader):
        return _rows(inputs.dataset)
    if isinstance(inputs, IterableDataset):
        raise InputError(
            "an IterableDataset has no length; pass its items as a tensor, or a map-style dataset"
        )
    if isinstance(inputs, Dataset):
        return _Entries(inputs)
    if is_table(inputs):
        return table(inputs)
    if isinstance(inputs, list | tuple | str | Mapping) or not isinstance(inputs, Rows):
        raise InputError(
            "inputs must be a tensor, an array [N, ...], a torch Dataset, a pool or a table of numbers, "
            f"not {type(inputs).__name__}"
        )
    return inputs


def table(frame: Any) -> NDArray[Any]:
    """The columns of a pandas, Arrow or polars table as one array [N, D]; all must be numbers."""
    names = list(getattr(frame, "column_names", None) or frame.columns)
    if len(set(map(str, names))) < len(names):
        raise InputError("the table has two columns of one name; rename one of them")
    columns = []
    for name in names:
        column = frame[name]
        values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        if values.dtype.kind not in "biuf":
            raise InputError(
                f"column {name!r} of the table is {values.dtype}, not numbers; leave it out or encode it"
            )
        columns.append(values)
    if not columns:
        raise InputError("the table has no columns")
    return np.stack(columns, axis=1)


def is_table(thing: object) -> bool:
    """Whether a thing is a table of pandas, pyarrow or polars."""
    return type(thing).__module__.partition(".")[0] in ("pandas", "pyarrow", "polars") and (
        hasattr(thing, "column_names") or hasattr(thing, "columns")
    )

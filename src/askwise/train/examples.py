"""Labelled examples to learn from: tensors in memory, or any torch Dataset read item by item."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from askwise.errors import InputError


@dataclass(frozen=True)
class Examples:
    """Inputs and labels by position, and the ids to name them by."""

    source: tuple[Tensor, Tensor] | Dataset[Any]
    labels: Tensor
    ids: Sequence[str] | None

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs [n, ...] and labels [n, ...] at these positions."""
        if isinstance(self.source, tuple):
            return self.source[0][positions], self.labels[positions]
        inputs = [torch.as_tensor(self.source[int(at)][0]) for at in positions]
        return torch.stack(inputs), self.labels[positions]

    def name(self, position: int) -> str:
        """How to call an item in a message."""
        return self.ids[position] if self.ids is not None else f"position {position}"


def examples(data: Any, *, ids: Sequence[str] | None = None) -> Examples:
    """Examples from `(x, y)` (tensors or arrays) or from a torch Dataset of pairs."""
    if isinstance(data, Dataset):
        if not isinstance(data, Sized):
            raise InputError("a Dataset to learn from needs a length; an IterableDataset has none")
        labels = torch.stack([torch.as_tensor(data[at][1]) for at in range(len(data))])
        found = Examples(data, labels, ids)
    elif isinstance(data, tuple) and len(data) == 2:
        x, y = _tensor("inputs", data[0]), _tensor("labels", data[1])
        if len(x) != len(y):
            raise InputError(f"inputs and labels differ in length: {len(x)} and {len(y)}")
        found = Examples((x, y), y, ids)
    else:
        raise InputError(f"data must be a pair (x, y) or a torch Dataset of pairs, not {type(data).__name__}")
    if not len(found):
        raise InputError("there are no labelled examples to learn from")
    if ids is not None and len(ids) != len(found):
        raise InputError(f"ids and labels differ in length: {len(ids)} and {len(found)}")
    return found


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers, not {array.dtype}")
    return torch.from_numpy(np.ascontiguousarray(array))

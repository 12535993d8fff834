"""Labelled examples to learn from: tensors in memory, or any torch Dataset read item by item."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset

from askwise.errors import InputError
from askwise.inputs import Rows, as_rows, read, stacked


@dataclass(frozen=True)
class Examples:
    """Inputs and labels by position, and the ids to name them by."""

    source: tuple[Tensor, Tensor] | Dataset[Any]
    labels: Tensor
    ids: Sequence[str] | None
    chances: Tensor | None = None
    """How likely each example is to be drawn into an epoch; None to take every one of them once."""
    dtype: torch.dtype | None = None
    """The type in which fractions are read; None as they are."""

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs [n, ...] and labels [n, ...] at these positions."""
        if isinstance(self.source, tuple):
            return self.source[0][positions], self.labels[positions]
        inputs = torch.stack([torch.as_tensor(self.source[int(at)][0]) for at in positions])
        if self.dtype is not None and inputs.is_floating_point():
            inputs = inputs.to(self.dtype)
        return inputs, self.labels[positions]

    def only(self, positions: Tensor) -> "Examples":
        """The examples at these positions; they keep their names."""
        at, labels = positions.tolist(), self.labels[positions]
        source: tuple[Tensor, Tensor] | Dataset[Any]
        if isinstance(self.source, tuple):
            source = self.source[0][positions], labels
        else:
            source = Subset(self.source, at)
        chances = None if self.chances is None else self.chances[positions]
        return Examples(source, labels, [self.name(one) for one in at], chances, self.dtype)

    def order(self, rng: torch.Generator) -> Tensor:
        """The positions of one epoch: all of them shuffled, or as many drawn by their chances."""
        if self.chances is None:
            return torch.randperm(len(self), generator=rng)
        return torch.multinomial(self.chances, len(self), replacement=True, generator=rng)

    def like(self, network: nn.Module) -> "Examples":
        """The examples with fractions in the type of the network's weights."""
        weights = next((p for p in network.parameters() if p.is_floating_point()), None)
        if weights is None or not isinstance(self.source, tuple) or not self.source[0].is_floating_point():
            return self if weights is None else replace(self, dtype=weights.dtype)
        return replace(self, source=(self.source[0].to(weights.dtype), self.source[1]), dtype=weights.dtype)

    @property
    def first(self) -> Tensor:
        """The first item, as a batch of one."""
        return self.batch(torch.zeros(1, dtype=torch.long))[0]

    def name(self, position: int) -> str:
        """How to call an item in a message."""
        return self.ids[position] if self.ids is not None else f"position {position}"


def examples(data: Any, *, ids: Sequence[str] | None = None) -> Examples:
    """Examples from `(x, y)`, or from a torch Dataset or DataLoader of pairs."""
    if isinstance(data, DataLoader):
        data = data.dataset
    if isinstance(data, Dataset):
        found = Examples(data, _labels_of(data), ids)
    else:
        if isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "__len__") and not len(data[0]):
            raise InputError("there are no labelled examples to learn from")
        x, y = labelled_rows(data)
        found = Examples((read(x, 0, len(x)).detach(), y), y, ids)
    if not len(found):
        raise InputError("there are no labelled examples to learn from")
    if ids is not None and len(ids) != len(found):
        raise InputError(f"ids and labels differ in length: {len(ids)} and {len(found)}")
    return found


def labelled_rows(data: Any) -> tuple[Tensor | NDArray[Any] | Rows, Tensor]:
    """Inputs and labels of `(x, y)`, or of a torch Dataset or DataLoader of pairs."""
    if isinstance(data, DataLoader):
        data = data.dataset
    if isinstance(data, Dataset):
        return as_rows(data), _labels_of(data)
    if not isinstance(data, tuple) or len(data) != 2:
        raise InputError(f"data must be a pair (x, y) or a torch Dataset of pairs, not {type(data).__name__}")
    if isinstance(data[0], list):  # as scikit-learn takes them
        data = (_tensor("inputs", data[0]), data[1])
    inputs, labels = as_rows(data[0]), label_tensor(data[1])
    if len(inputs) != len(labels):
        raise InputError(f"inputs and labels differ in length: {len(inputs)} and {len(labels)}")
    return inputs, labels


def _labels_of(data: Dataset[Any]) -> Tensor:
    if not isinstance(data, Sized):
        raise InputError("a Dataset to learn from needs a length; an IterableDataset has none")
    entries = [data[at] for at in range(len(data))]
    if any(not isinstance(entry, tuple | list) or len(entry) < 2 for entry in entries):
        raise InputError(
            "a Dataset to learn from holds pairs (item, label); this one has items without labels"
        )
    return stacked("labels", [label_tensor(entry[1]) for entry in entries])


def label_tensor(value: Any) -> Tensor:
    """Labels as a tensor [N, ...]; what are no numbers, or not all of one shape, is refused."""
    return _tensor("labels", value)


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    try:
        array = np.asarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
    except ValueError as error:
        raise InputError(f"{name} must be one array of numbers; their rows differ in length") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers, not {array.dtype}")
    return torch.as_tensor(np.ascontiguousarray(array) if array.ndim else array)

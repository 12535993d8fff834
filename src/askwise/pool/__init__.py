"""The items that may be asked about: arrays, datasets, pictures, texts, tables."""

from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import DataLoader

from askwise.errors import InputError
from askwise.inputs import is_table
from askwise.inputs import table as array_of
from askwise.pool.ahead import Ahead, encode_ahead, encoding_order
from askwise.pool.arrays import arrays
from askwise.pool.axes import Axes, fit_axes
from askwise.pool.coding import Coding
from askwise.pool.dataset import dataset
from askwise.pool.duplicates import Duplicates, duplicates, once
from askwise.pool.features import features
from askwise.pool.images import images, stretch_of
from askwise.pool.pool import Item, Pool
from askwise.pool.prepared import prepared
from askwise.pool.source import Reading
from askwise.pool.stretch import Stretch
from askwise.pool.table import coding_of, embeddings, table
from askwise.pool.text import text

__all__ = [
    "Ahead",
    "Axes",
    "Coding",
    "Duplicates",
    "Item",
    "Pool",
    "Reading",
    "Stretch",
    "arrays",
    "as_pool",
    "coding_of",
    "dataset",
    "duplicates",
    "embeddings",
    "encode_ahead",
    "encoding_order",
    "features",
    "fit_axes",
    "images",
    "once",
    "prepared",
    "stretch_of",
    "table",
    "text",
]


def as_pool(items: Any) -> Pool:
    """A pool of whatever holds items: a tensor, an array, a Dataset, a DataLoader, a table of numbers.

    >>> len(aw.pool.as_pool(torch.utils.data.TensorDataset(x, y)))
    60
    """
    if isinstance(items, Pool):
        return items
    if isinstance(items, DataLoader):
        items = items.dataset
    if isinstance(items, np.ndarray | Tensor):
        return arrays(items)
    if is_table(items):
        return arrays(array_of(items))
    if isinstance(items, str | Path):
        raise InputError(
            f"say what {str(items)!r} holds: aw.pool.images(...), aw.pool.text(...), aw.pool.table(...)"
        )
    if isinstance(items, list | tuple) and items and all(isinstance(one, str) for one in items):
        raise InputError("a list of texts needs an encoder: aw.pool.text(texts, encode=...)")
    return dataset(items)

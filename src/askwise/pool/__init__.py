"""The items that may be asked about: arrays, datasets, pictures, text."""

from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import DataLoader

from askwise.errors import InputError
from askwise.inputs import is_table, table
from askwise.pool.arrays import arrays
from askwise.pool.dataset import dataset
from askwise.pool.features import features
from askwise.pool.images import images
from askwise.pool.pool import Item, Pool, Reading
from askwise.pool.text import text


def as_pool(items: Any) -> Pool:
    """A pool of whatever holds items: a tensor, an array, a Dataset, a DataLoader, a table of numbers."""
    if isinstance(items, Pool):
        return items
    if isinstance(items, DataLoader):
        items = items.dataset
    if isinstance(items, np.ndarray | Tensor):
        return arrays(items)
    if is_table(items):
        return arrays(table(items))
    if isinstance(items, list | tuple) and items and all(isinstance(one, str) for one in items):
        raise InputError("a list of texts needs an encoder: aw.pool.text(texts, encode=...)")
    return dataset(items)


__all__ = ["Item", "Pool", "Reading", "arrays", "as_pool", "dataset", "features", "images", "text"]

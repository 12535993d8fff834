"""The items that may be asked about: arrays, datasets, pictures, texts, tables."""

from askwise.pool.ahead import Ahead, encode_ahead, encoding_order
from askwise.pool.arrays import arrays
from askwise.pool.axes import Axes, fit_axes
from askwise.pool.coding import Coding
from askwise.pool.dataset import dataset
from askwise.pool.duplicates import Duplicates, duplicates, once
from askwise.pool.features import features
from askwise.pool.images import images, stretch_of
from askwise.pool.pool import Pool, Reading
from askwise.pool.stretch import Stretch
from askwise.pool.table import coding_of, embeddings, table
from askwise.pool.text import text

__all__ = [
    "Ahead",
    "Axes",
    "Coding",
    "Duplicates",
    "Pool",
    "Reading",
    "Stretch",
    "arrays",
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
    "stretch_of",
    "table",
    "text",
]

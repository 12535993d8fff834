"""The items that may be asked about: arrays, datasets, pictures, text."""

from askwise.pool.arrays import arrays
from askwise.pool.dataset import dataset
from askwise.pool.features import features
from askwise.pool.images import images
from askwise.pool.pool import Pool, Reading
from askwise.pool.text import text

__all__ = ["Pool", "Reading", "arrays", "dataset", "features", "images", "text"]

"""The items that may be asked about: arrays, datasets, pictures, text."""

from askwise.pool.arrays import arrays
from askwise.pool.dataset import dataset
from askwise.pool.features import features
from askwise.pool.images import images, stretch_of
from askwise.pool.pool import Pool, Reading
from askwise.pool.stretch import Stretch
from askwise.pool.text import text

__all__ = ["Pool", "Reading", "Stretch", "arrays", "dataset", "features", "images", "stretch_of", "text"]

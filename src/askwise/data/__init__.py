"""Data sets by name; nothing is downloaded unless `fetch` is called."""

from askwise.data.catalogue import NAMES, load
from askwise.data.dataset import Dataset
from askwise.data.fetch import fetch

__all__ = ["NAMES", "Dataset", "fetch", "load"]

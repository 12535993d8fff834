"""Data sets by name; nothing is downloaded unless `fetch` is called."""

from askwise.data.catalogue import NAMES, load, uci
from askwise.data.dataset import Dataset, Part
from askwise.data.fetch import fetch
from askwise.data.streets import STREET_CLASSES, street_scenes
from askwise.data.uci_set import Table

__all__ = ["NAMES", "STREET_CLASSES", "Dataset", "Part", "Table", "fetch", "load", "street_scenes", "uci"]

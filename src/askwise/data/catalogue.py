"""The data sets that askwise knows by name, and how one of them is loaded."""

from collections.abc import Mapping
from pathlib import Path

from askwise.data.dataset import Dataset, dataset
from askwise.data.digits import digits
from askwise.data.idx_set import FASHION_MNIST, MNIST, IdxSet
from askwise.data.places import locate
from askwise.data.png_set import CIFAR10, PngSet
from askwise.errors import CorruptError, choose

STORED: Mapping[str, IdxSet | PngSet] = {"mnist": MNIST, "fashion_mnist": FASHION_MNIST, "cifar10": CIFAR10}
NAMES = ("digits", *STORED)


def load(name: str, *, data_dir: str | Path | None = None) -> Dataset:
    """The data set of that name, from `data_dir`, the folder of ASKWISE_DATA or the cache."""
    if choose("data set", name, NAMES) == "digits":
        return digits()
    kind = STORED[name]
    try:
        folder = locate(name, kind.digests, data_dir=data_dir)
        return dataset(name, kind.classes, kind.arrays(folder))
    except CorruptError as reason:
        raise CorruptError(f"{reason}; fetch it again with: askwise data fetch {name}") from reason

"""The data sets that askwise knows by name, and how one of them is loaded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from askwise.data.camvid import CAMVID
from askwise.data.dataset import Dataset
from askwise.data.digits import digits
from askwise.data.goemotions import GOEMOTIONS
from askwise.data.idx import FASHION_MNIST, MNIST
from askwise.data.isic2016 import ISIC2016
from askwise.data.places import advice, locate
from askwise.data.png_set import CIFAR10
from askwise.data.sources import SOURCES
from askwise.data.trec import TREC
from askwise.data.uci_set import UCI, Table
from askwise.data.xed import XED
from askwise.errors import CorruptError, InputError, check_options, choose


@runtime_checkable
class Stored(Protocol):
    """A data set in files: what they must hold, and how they become one."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, if it has any."""
        ...

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 sum of every file, uncompressed."""
        ...

    @property
    def dataset(self) -> Callable[..., Dataset]:
        """The data set in a folder that holds the files; options are its own."""
        ...


STORED: Mapping[str, Stored] = {
    "mnist": MNIST,
    "fashion_mnist": FASHION_MNIST,
    "cifar10": CIFAR10,
    "isic2016": ISIC2016,
    "camvid": CAMVID,
    "goemotions": GOEMOTIONS,
    "xed": XED,
    "trec": TREC,
    **UCI,
}
NAMES = ("digits", *STORED)
_TASKS: Mapping[str, Mapping[str, Any]] = {
    "camvid": {"name": "segmentation", "ignore": len(CAMVID.classes)},
    "goemotions": {"name": "multilabel"},
    "xed": {"name": "multilabel"},
    **{name: {"name": "regression"} for name in UCI},
}


def task_of(name: str) -> dict[str, Any]:
    """What a label of a data set is, by the name and the options of its task."""
    return dict(_TASKS.get(name, {"name": "classification"}))


def load(name: str, *, data_dir: str | Path | None = None, **options: Any) -> Dataset:
    """The data set of that name, from `data_dir`, the folder of ASKWISE_DATA or the cache.

    Options are those of the set: `shrink` for camvid and isic2016, `split` for uci/..., `language`
    for xed, `fine` for trec.

    >>> digits = aw.data.load("digits")
    >>> digits.train_x.shape, digits.classes[:3]
    (torch.Size([1201, 1, 8, 8]), ('0', '1', '2'))
    """
    chosen = choose("data set", name, NAMES)
    make: Callable[..., Dataset] = digits if chosen == "digits" else STORED[name].dataset
    check_options(f"data set {name!r}", make, options, given=())
    if chosen == "digits":
        return digits()
    with _good_copy(name):
        return make(_folder(name, data_dir), **options)


def uci(name: str, *, data_dir: str | Path | None = None) -> Table:
    """One of the UCI tables, such as `yacht`, with all its splits.

    >>> aw.data.uci("yacht", data_dir="data").split(0)[0].shape  # doctest: +SKIP
    torch.Size([277, 6])
    """
    full = name if name.startswith("uci/") else f"uci/{name}"
    kind = UCI[choose("UCI table", full, UCI)]
    with _good_copy(full):
        return kind.table(_folder(full, data_dir))


def missing(name: str) -> str:
    """How to get a data set that is not here."""
    return advice(name, STORED[name].digests, packaged=name in SOURCES)


def _folder(name: str, data_dir: str | Path | None) -> Path:
    return locate(name, STORED[name].digests, data_dir=data_dir, packaged=name in SOURCES)


@contextmanager
def _good_copy(name: str) -> Iterator[None]:
    """Says how to get a good copy of files that are damaged."""
    again = (
        f"fetch it again with: askwise data fetch {name}"
        if name in SOURCES
        else "get a good copy of its files"
    )
    try:
        yield
    except CorruptError as reason:
        raise CorruptError(f"{reason}; {again}") from reason
    except OSError as reason:
        raise InputError(f"{name} cannot be read: {reason}") from reason

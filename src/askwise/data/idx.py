"""The idx format, a magic number, the sizes of the axes and the bytes, and the data sets that come in it."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from askwise.data import files
from askwise.data.dataset import Arrays, Dataset, Published, dataset
from askwise.errors import CorruptError

_UNSIGNED_BYTES = 0x08


def header(shape: tuple[int, ...]) -> bytes:
    """The first bytes of an idx file that holds unsigned bytes in this shape."""
    return struct.pack(f">HBB{len(shape)}I", 0, _UNSIGNED_BYTES, len(shape), *shape)


def parse(content: bytes, *, shape: tuple[int, ...], path: Path) -> UInt8[np.ndarray, "..."]:
    """The array of an idx file, which must have exactly this shape."""
    wanted = header(shape)
    if content[:4] != wanted[:4]:
        found = content[:4].hex() or "nothing"
        raise CorruptError(
            f"{path} is not an idx file of {len(shape)} axes: begins with {found}, not {wanted[:4].hex()}"
        )
    if len(content) < len(wanted):
        raise CorruptError(f"{path} ends inside its header, after {len(content)} bytes")
    sizes = struct.unpack(f">{len(shape)}I", content[4 : len(wanted)])
    if sizes != shape:
        raise CorruptError(f"{path} says it holds {_times(sizes)} bytes, not {_times(shape)}")
    held, total = len(content) - len(wanted), int(np.prod(shape))
    if held < total:
        raise CorruptError(f"{path} is cut off: {held} of {_times(shape)} bytes")
    if held > total:
        raise CorruptError(f"{path} is longer than its {_times(shape)} bytes")
    return np.frombuffer(content, dtype=np.uint8, offset=len(wanted)).reshape(shape)


def _times(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


TRAIN_IMAGES = "train-images-idx3-ubyte"
TRAIN_LABELS = "train-labels-idx1-ubyte"
TEST_IMAGES = "t10k-images-idx3-ubyte"
TEST_LABELS = "t10k-labels-idx1-ubyte"


@dataclass(frozen=True)
class IdxSet(Published):
    """What the four files must hold; `digests` are SHA-256 sums of the uncompressed files."""

    train: int = 60_000
    test: int = 10_000
    side: int = 28

    def arrays(self, folder: Path) -> Arrays:
        """The images and labels of a folder that holds all four files."""
        return Arrays(
            train_x=self._read(folder, TRAIN_IMAGES, (self.train, self.side, self.side))[:, None],
            train_y=self._read(folder, TRAIN_LABELS, (self.train,)),
            test_x=self._read(folder, TEST_IMAGES, (self.test, self.side, self.side))[:, None],
            test_y=self._read(folder, TEST_LABELS, (self.test,)),
        )

    def check(self, folder: Path) -> None:
        """Refuse a folder that does not hold the whole set."""
        self.arrays(folder)

    def dataset(self, folder: Path) -> Dataset:
        """The data set in a folder that holds all four files."""
        return dataset(self.name, self.classes, self.arrays(folder))

    def _read(self, folder: Path, name: str, shape: tuple[int, ...]) -> UInt8[np.ndarray, "..."]:
        path = files.find(folder, name) or folder / name
        content = files.read(path, limit=len(header(shape)) + int(np.prod(shape)))
        array = parse(content, shape=shape, path=path)
        files.verify(content, digest=self.digests[name], path=path)
        return array


MNIST = IdxSet(
    name="mnist",
    classes=tuple("0123456789"),
    digests={
        TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
)

FASHION_MNIST = IdxSet(
    name="fashion_mnist",
    classes=(
        "T-shirt/top", "trouser", "pullover", "dress", "coat",
        "sandal", "shirt", "sneaker", "bag", "ankle boot",
    ),
    digests={
        TRAIN_IMAGES: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        TRAIN_LABELS: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        TEST_IMAGES: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        TEST_LABELS: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    },
)  # fmt: skip

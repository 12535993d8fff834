"""Data sets as tall PNG pictures, one item a row, with labels in JSON: CIFAR-10."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from askwise.data import files
from askwise.data.dataset import Arrays, Dataset, Published, dataset
from askwise.data.pictures import pixels
from askwise.errors import CorruptError

_LARGEST = 64 * 2**20  # bytes of one file; a PNG of CIFAR-10 has 23 million


@dataclass(frozen=True)
class PngSet(Published):
    """What the pictures must hold: each has `rows` items, `side` x `side` pixels, three colours."""

    train_pictures: tuple[str, ...]
    test_pictures: tuple[str, ...]
    train_labels: str
    test_labels: str
    rows: int = 10_000
    side: int = 32

    def arrays(self, folder: Path) -> Arrays:
        """The images and labels of a folder that holds all the files."""
        return Arrays(
            train_x=np.concatenate([self._images(folder, name) for name in self.train_pictures]),
            train_y=self._labels(folder, self.train_labels, self.rows * len(self.train_pictures)),
            test_x=np.concatenate([self._images(folder, name) for name in self.test_pictures]),
            test_y=self._labels(folder, self.test_labels, self.rows * len(self.test_pictures)),
        )

    def check(self, folder: Path) -> None:
        """Refuse a folder that does not hold the whole set."""
        self.arrays(folder)

    def dataset(self, folder: Path) -> Dataset:
        """The data set in a folder that holds all the files."""
        return dataset(self.name, self.classes, self.arrays(folder))

    def _images(self, folder: Path, name: str) -> UInt8[np.ndarray, "N 3 H W"]:
        path, content = self._content(folder, name)
        rows = pixels(content, kind="PNG", mode="RGB", size=(self.side * self.side, self.rows), where=path)
        return rows.reshape(self.rows, self.side, self.side, 3).transpose(0, 3, 1, 2)

    def _content(self, folder: Path, name: str) -> tuple[Path, bytes]:
        return files.published(folder, name, digest=self.digests[name], limit=_LARGEST)

    def _labels(self, folder: Path, name: str, count: int) -> UInt8[np.ndarray, " N"]:
        path, content = self._content(folder, name)
        try:
            labels = json.loads(content)
        except ValueError as reason:
            raise CorruptError(f"{path} is not JSON: {reason}") from reason
        if not isinstance(labels, list) or len(labels) != count:
            found = f"{len(labels)} labels" if isinstance(labels, list) else "no list of labels"
            raise CorruptError(f"{path} holds {found}, not {count} labels")
        if not all(type(label) is int and 0 <= label < len(self.classes) for label in labels):
            raise CorruptError(f"{path} holds labels outside 0 to {len(self.classes) - 1}")
        return np.array(labels, dtype=np.uint8)


CIFAR10 = PngSet(
    name="cifar10",
    classes=(
        "airplane", "automobile", "bird", "cat", "deer",
        "dog", "frog", "horse", "ship", "truck",
    ),
    train_pictures=tuple(f"data_batch_{number}.png" for number in (1, 2, 3, 4, 5)),
    test_pictures=("test_batch.png",),
    train_labels="train_lables.json",  # so spelled in the package
    test_labels="test_lables.json",
    digests={
        "data_batch_1.png": "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc",
        "data_batch_2.png": "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f",
        "data_batch_3.png": "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10",
        "data_batch_4.png": "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5",
        "data_batch_5.png": "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144",
        "test_batch.png": "ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09",
        "train_lables.json": "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
        "test_lables.json": "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
    },
)  # fmt: skip

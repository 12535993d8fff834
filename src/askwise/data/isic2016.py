"""The 1,171 images of ISIC 2016's third task that could be had, at 256 x 256: a subset, not the whole."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

import torch

from askwise.data import archives, files
from askwise.data.dataset import Dataset, Part, Published
from askwise.data.pictures import divisor, pixels, scaled
from askwise.errors import CorruptError

_IMAGES = "images_256.zip"
_LARGEST = 2**20  # bytes of one picture or table; the largest has 49 thousand


@dataclass(frozen=True)
class Isic(Published):
    """What the zip and the tables must hold; rows that name no file are left out."""

    counts: dict[str, int] = field(default_factory=lambda: {"train": 826, "test": 345})
    side: int = 256

    def dataset(self, folder: Path, *, shrink: int = 1) -> Dataset:
        """Images, `shrink` times smaller, and whether they show a malignant lesion; 920 MB if not shrunk."""
        divisor(shrink, size=(self.side, self.side))
        files.verify_file(folder / _IMAGES, digest=self.digests[_IMAGES])
        train, test = (self._part(folder, part, shrink) for part in ("train", "test"))
        return self.joined("classification", train, test)

    def _part(self, folder: Path, part: str, shrink: int) -> Part:
        rows = self._rows(folder, part)
        content = archives.members(folder / _IMAGES, [row["file"] for row in rows], limit=_LARGEST)
        images = torch.empty(len(rows), 3, self.side // shrink, self.side // shrink)
        size = (self.side, self.side)
        for at, row in enumerate(rows):
            picture = pixels(content[row["file"]], kind="JPEG", mode="RGB", size=size, where=row["file"])
            images[at] = torch.from_numpy(scaled(picture, shrink=shrink))
        labels = torch.tensor([int(row["malignant"]) for row in rows])
        return Part(images, labels, tuple(f"{self.name}-{row['image_id']}" for row in rows))

    def _rows(self, folder: Path, part: str) -> list[dict[str, str]]:
        """The rows of a table whose image is there."""
        file = f"{part}.csv"
        path, content = files.published(folder, file, digest=self.digests[file], limit=_LARGEST)
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8", errors="replace"))))
        if not rows or not {"image_id", "malignant", "file"} <= rows[0].keys():
            raise CorruptError(f"{path} lacks the columns image_id, malignant and file")
        unknown = [row["malignant"] for row in rows if row["malignant"] not in ("0", "1")]
        if unknown:
            raise CorruptError(f"{path} has a label {unknown[0]!r}; malignant is 0 or 1")
        there = [row for row in rows if row["file"]]
        if len(there) != self.counts[part]:
            raise CorruptError(f"{path} names {len(there)} images, not {self.counts[part]}")
        return there


ISIC2016 = Isic(
    name="isic2016",
    classes=("benign", "malignant"),
    digests={
        _IMAGES: "fe23f2c0b7844b5e53cc5af7a0bcfe7e4c5b0161b301a2ae1ee77797b448e9b5",
        "train.csv": "4422ecd883814c4e50e241f0bbb32134889969a208717db6075ec53aade67aee",
        "test.csv": "cd46ef23788ae7bb45decc73739f0357eddfb783b728985781fb21b19da5b288",
    },
)

"""CamVid (Brostow et al. 2009) in the split and the 11 classes of SegNet: street scenes with masks."""

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
import torch

from askwise.data import archives, files
from askwise.data.dataset import Dataset, Part, Published
from askwise.data.pictures import divisor, nearest, pixels, scaled
from askwise.errors import CorruptError

_LARGEST = 2**20  # bytes of one picture; the largest has 33 thousand


@dataclass(frozen=True)
class CamVid(Published):
    """What the zip must hold: `train/NAME.jpg` beside `trainannot/NAME.png`, and so for val and test."""

    counts: dict[str, int] = field(default_factory=lambda: {"train": 367, "val": 101, "test": 233})
    size: tuple[int, int] = (240, 180)

    def dataset(self, folder: Path, *, shrink: int = 1) -> Dataset:
        """Images and masks, `shrink` times smaller: 2 makes 120 x 90 of 240 x 180.

        A pixel without a class has the label that follows the last one.
        """
        divisor(shrink, size=self.size)
        ((file, digest),) = self.digests.items()
        archive = folder / file
        files.verify_file(archive, digest=digest)
        inside = archives.names(archive)
        train, validation, test = (
            self._part(archive, inside, part, shrink) for part in ("train", "val", "test")
        )
        return self.joined("segmentation", train, test, validation=validation, ignore=len(self.classes))

    def _part(self, archive: Path, inside: list[str], part: str, shrink: int) -> Part:
        names = sorted(PurePosixPath(name).stem for name in inside if name.startswith(f"{part}/"))
        if len(names) != self.counts[part]:
            raise CorruptError(f"{archive} holds {len(names)} {part} images, not {self.counts[part]}")
        wanted = [path for name in names for path in (f"{part}/{name}.jpg", f"{part}annot/{name}.png")]
        content = archives.members(archive, wanted, limit=_LARGEST)
        width, height = (side // shrink for side in self.size)
        images = torch.empty(len(names), 3, height, width)
        masks = torch.empty(len(names), height, width, dtype=torch.long)
        for at, (image, mask) in enumerate(zip(wanted[::2], wanted[1::2], strict=True)):
            picture = pixels(content[image], kind="JPEG", mode="RGB", size=self.size, where=image)
            labels = pixels(content[mask], kind="PNG", mode="L", size=self.size, where=mask)
            if labels.max() > len(self.classes):
                raise CorruptError(f"{mask} has a pixel of class {labels.max()}, above {len(self.classes)}")
            images[at] = torch.from_numpy(scaled(picture, shrink=shrink))
            masks[at] = torch.from_numpy(nearest(labels, shrink=shrink).astype(np.int64))
        return Part(images, masks, tuple(f"{self.name}-{name}" for name in names))


CAMVID = CamVid(
    name="camvid",
    classes=(
        "sky", "building", "pole", "road", "pavement", "tree",
        "sign", "fence", "car", "pedestrian", "bicyclist",
    ),
    digests={"camvid_240x180.zip": "0a7bc4fabdf89f2d6feb343562adccd14fab2cb4791508e66080d1cb3f62c840"},
)  # fmt: skip

"""Items from a folder of pictures."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from askwise.errors import InputError, choose, positive
from askwise.pool.alike import SIDE
from askwise.pool.decode import Looks, Raster, decode, decode_heic, is_deep, shown
from askwise.pool.folder import UnreadableError, opened, walk
from askwise.pool.ids import of_path
from askwise.pool.pool import Pool
from askwise.pool.source import Reading, stack
from askwise.pool.stretch import Stretch, fit_stretch
from askwise.seeding import hashes

DEEP = (".tif", ".tiff", ".png", ".pgm", ".ppm")
"""Names of pictures that may hold more than 8 bits."""
HEIC = (".heic", ".heif")
SUFFIXES = (*DEEP, ".jpg", ".jpeg", ".bmp", ".gif", ".webp", *HEIC)
"""Names that promise a picture; anything else in the folder is not an item."""

STACKS = ("refuse", "max", "mean", "channels")
_SURVEYED, _FITTED = 512, 64  # pictures looked at for deep ones, and of these taken for the stretch


class ImageSource:
    """One item for each picture under a folder."""

    def __init__(
        self, folder: Path, looks: Looks, stretch: Stretch | None, *, only: str | None = None
    ) -> None:
        self._folder = folder.resolve()
        self._looks, self._given = looks, stretch
        names = sorted(walk(self._folder, SUFFIXES), key=os.fsencode) if only is None else [only]
        self._path = {of_path(name): name for name in names}
        self.ids: Sequence[str] = list(self._path)
        self.quarantined: dict[str, str] = (
            {}
            if find_spec("pillow_heif")
            else dict.fromkeys(
                (name for name in self.ids if name.lower().endswith(HEIC)),
                "it is HEIC, which needs pillow-heif: pip install 'askwise[vision]'",
            )
        )

    @cached_property
    def stretch(self) -> Stretch | None:
        """How numbers of more than 8 bits become 0 to 1: as given, or by the pool; None if all have 8."""
        if self._given is not None:
            return self._given
        deep = [name for name in self.ids if name.lower().endswith(DEEP)]
        first = hashes(0, deep).argsort()[:_SURVEYED].tolist()  # any others would do, but always the same
        return fit_stretch(_first(self._deep(deep[place] for place in first), _FITTED))

    def like(self) -> Tensor:
        """Channels, height and width."""
        return torch.empty(self._looks.channels, *self._looks.size)

    def read(self, ids: Sequence[str]) -> Reading:
        """The pictures as one tensor, and those that cannot be read."""
        found = {identity: self._picture(identity, self._looks) for identity in ids}
        return stack(found, self.like())

    def again(self, path: Path) -> "ImageSource":
        """The pictures of another folder, or one picture, brought to the same size and channels."""
        if path.is_file():
            return ImageSource(path.parent, self._looks, self.stretch, only=path.name)
        if not path.is_dir():
            raise InputError(f"there is no folder {str(path)!r}; give one that holds pictures")
        return ImageSource(path, self._looks, self.stretch)

    def preparation(self) -> dict[str, Any]:
        """Size, channels, and what becomes of deep pictures and stacks: by the pool's own stretch."""
        bands, stretch = self._looks.bands, self.stretch
        return {
            "kind": "images",
            "size": list(self._looks.size),
            "channels": self._looks.channels,
            "stretch": None if stretch is None else [list(stretch.low), list(stretch.high)],
            "stack": self._looks.stack,
            "bands": None if bands is None else list(bands),
            "max_pixels": self._looks.max_pixels,
        }

    def name(self, identity: str) -> str:
        """The path of the picture in the folder."""
        return identity

    def original(self, identity: str) -> Path:
        """The file of the picture."""
        return self._folder / self._path[identity]

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """Size and time of each file, and how it is read."""
        root = f"{self._folder}{os.sep}"  # strings, not paths: there may be a million
        return [self._stamp(root + self._path[identity]) for identity in ids]

    def contents(self, ids: Sequence[str]) -> Sequence[str | None]:
        """A hash of every file; None where it cannot be opened."""
        return [self._content(identity) for identity in ids]

    def thumbnails(self, ids: Sequence[str]) -> Iterator[tuple[str, Tensor]]:
        """The pictures that can be read, grey and small, as `duplicates` looks at them."""
        looks = replace(self._looks, size=(SIDE, SIDE), channels=1)
        for identity in ids:
            picture = self._picture(identity, looks)
            if isinstance(picture, Tensor):
                yield identity, picture[0]

    def place(self, identity: str) -> tuple[Path, str]:
        """The folder, and the path of the picture in it."""
        return self._folder, self._path[identity]

    def _content(self, identity: str) -> str | None:
        try:
            with opened(self._folder, self._path[identity]) as file:
                return file_digest(file, "sha256").hexdigest()
        except (UnreadableError, OSError):
            return None

    def _stamp(self, path: str) -> str | None:
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            return None  # reading it says what is wrong
        how = f"{self._looks} {self.stretch}" if path.lower().endswith(DEEP) else f"{self._looks}"
        return f"{status.st_size} {status.st_mtime_ns} {how}"

    def _picture(self, identity: str, looks: Looks) -> Tensor | str:
        try:
            raster = self._raster(identity, looks)
            stretch = self.stretch if isinstance(raster, np.ndarray) else None
            return torch.from_numpy(shown(raster, looks, stretch))
        except UnreadableError as reason:
            return str(reason)

    def _deep(self, ids: Iterator[str]) -> Iterator[np.ndarray]:
        for identity in ids:
            try:
                with opened(self._folder, self._path[identity]) as file:
                    raster = decode(file, self._looks) if is_deep(file, self._looks) else None
            except UnreadableError:
                continue
            if isinstance(raster, np.ndarray):
                yield raster

    def _raster(self, identity: str, looks: Looks) -> Raster:
        heic = identity.lower().endswith(HEIC)
        with opened(self._folder, self._path[identity]) as file:
            return decode_heic(file, looks) if heic else decode(file, looks)


def images(
    folder: str | Path,
    *,
    size: int | tuple[int, int] = 64,
    channels: int = 3,
    stretch: Stretch | None = None,
    stack: str | int = "refuse",
    bands: tuple[int, ...] | None = None,
    max_pixels: int = 50_000_000,
) -> Pool:
    """A pool of all pictures under a folder as [channels, height, width] in 0 to 1; ids are their paths.

    The path of one picture is a pool of that one.

    Each is turned upright as its EXIF data say, brought to `size` (height, width) and to grey (1) or
    RGB (3). Links to folders are not followed; pictures that cannot be read are quarantined.

    Pictures with more than 8 bits are spread by `stretch`, unless given by `stretch_of(folder)`. Of
    several pages `stack` takes one (its number from 0), the greatest value, the mean, or each as a
    channel; `bands` says which channels to show. A JPEG or TIFF of more than `max_pixels` is read in
    part, others of that size are quarantined.

    >>> from PIL import Image
    >>> Image.new("RGB", (40, 30), "red").save("red.png")
    >>> pool = aw.pool.images(".", size=32)
    >>> list(pool.ids), pool.item("red.png").inputs.shape
    (['red.png'], torch.Size([3, 32, 32]))
    """
    source = _source(folder, size, channels, stretch, stack, bands, max_pixels)
    return Pool(source)


def stretch_of(
    folder: str | Path,
    *,
    stack: str | int = "refuse",
    bands: tuple[int, ...] | None = None,
    max_pixels: int = 50_000_000,
) -> Stretch | None:
    """The stretch for the pictures of a folder that have more than 8 bits, to be kept with a pool.

    For each channel between percentiles .5 and 99.5 of 64 of them; None where there are none.

    >>> from PIL import Image
    >>> Image.new("RGB", (40, 30), "red").save("red.png")
    >>> aw.pool.stretch_of(".") is None  # there are 8 bits only
    True
    """
    return _source(folder, 1, 3, None, stack, bands, max_pixels).stretch


def _source(
    folder: str | Path,
    size: int | tuple[int, int],
    channels: int,
    stretch: Stretch | None,
    stack: str | int,
    bands: tuple[int, ...] | None,
    max_pixels: int,
) -> ImageSource:
    root = Path(folder)
    if root.is_file() and root.suffix.lower() not in SUFFIXES:
        raise InputError(f"{folder} is no picture; names end in {', '.join(SUFFIXES)}")
    if not root.exists():
        raise InputError(f"there is no folder {str(folder)!r}; give one that holds pictures")
    choose("number of channels", str(channels), ("1", "3"))
    if isinstance(stack, str):
        choose("stack (or the number of a page)", stack, STACKS)
    elif isinstance(stack, bool) or stack < 0:
        raise InputError(
            f"stack is the number of a page from 0, or one of {', '.join(STACKS)}; not {stack!r}"
        )
    if bands is not None and (len(bands) not in (1, 3) or min(bands) < 0):
        raise InputError(f"bands are one or three numbers of channels from 0, not {bands!r}")
    high, wide = (size, size) if isinstance(size, int) else size
    looks = Looks(
        size=(positive("size", high), positive("size", wide)),
        channels=channels,
        max_pixels=positive("max_pixels", max_pixels),
        stack=stack,
        bands=bands,
    )
    if root.is_file():
        return ImageSource(root.parent, looks, stretch, only=root.name)
    source = ImageSource(root, looks, stretch)
    if not source.ids:
        raise InputError(f"folder {str(folder)!r} holds no pictures; names end in {', '.join(SUFFIXES)}")
    return source


def _first(found: Iterator[np.ndarray], count: int) -> Iterator[np.ndarray]:
    return (picture for picture, _ in zip(found, range(count), strict=False))

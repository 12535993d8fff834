"""Items from a folder of pictures."""

import os
import stat
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from askwise.errors import InputError, choose, positive
from askwise.pool.ids import of_path
from askwise.pool.pool import Pool, Reading, stack

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".svg")
"""Names that promise a picture; anything else in the folder is not an item."""

_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
_MODES = {1: "L", 3: "RGB"}


class ImageSource:
    """One item for each picture under a folder."""

    def __init__(self, folder: Path, *, size: tuple[int, int], channels: int, max_pixels: int) -> None:
        self._folder = folder.resolve()
        self._size = size
        self._channels = channels
        self._max_pixels = max_pixels
        self._path = {of_path(name): name for name in sorted(_walk(self._folder), key=os.fsencode)}
        self.ids: Sequence[str] = list(self._path)
        self.quarantined: dict[str, str] = {}

    def like(self) -> Tensor:
        """Channels, height and width."""
        return torch.empty(self._channels, *self._size)

    def read(self, ids: Sequence[str]) -> Reading:
        """The pictures as one tensor, and those that cannot be read."""
        return stack({identity: self._picture(self._path[identity]) for identity in ids}, self.like())

    def again(self, path: Path) -> "ImageSource":
        """The pictures of another folder, brought to the same size and channels."""
        if not path.is_dir():
            raise InputError(f"there is no folder {str(path)!r}; give one that holds pictures")
        return ImageSource(path, size=self._size, channels=self._channels, max_pixels=self._max_pixels)

    def name(self, identity: str) -> str:
        """The path of the picture in the folder."""
        return identity

    def stamps(self, ids: Sequence[str]) -> Sequence[str | None]:
        """Size and time of each file, and how it is read."""
        how = f"{self._size} {self._channels} {self._max_pixels}"
        root = f"{self._folder}{os.sep}"  # strings, not paths: there may be a million
        return [self._stamp(root + self._path[identity], how) for identity in ids]

    @staticmethod
    def _stamp(path: str, how: str) -> str | None:
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            return None  # reading it says what is wrong
        return f"{status.st_size} {status.st_mtime_ns} {how}"

    def _picture(self, name: str) -> Tensor | str:
        path = self._folder / name
        try:
            if not path.resolve(strict=True).is_relative_to(self._folder):
                return "it is a link that leaves the folder"
            # non-blocking: a pipe named x.jpg would otherwise wait for ever
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return "it is not there any more"
        except (OSError, RuntimeError) as error:  # RuntimeError: how Python < 3.13 reports a loop of links
            return f"it cannot be opened: {getattr(error, 'strerror', None) or 'a loop of links'}"
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            return "it is a folder, pipe or device, not a file"
        with os.fdopen(descriptor, "rb") as file:
            return self._decoded(file) if status.st_size else "it is an empty file"

    def _decoded(self, file: IO[bytes]) -> Tensor | str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what Pillow warns of is refused below, or harmless
                with Image.open(file, formats=_FORMATS) as image:
                    return self._pixels(image)
        except UnidentifiedImageError:
            return "it is not a picture in any of: " + ", ".join(_FORMATS)
        except Exception as error:  # Pillow raises whatever its decoders do on hostile bytes
            return f"it cannot be decoded: {type(error).__name__}: {str(error).partition(chr(10))[0]}"

    def _pixels(self, image: Image.Image) -> Tensor | str:
        if image.width * image.height > self._max_pixels:
            return f"it has {image.width} x {image.height} pixels, more than {self._max_pixels}"
        if getattr(image, "n_frames", 1) > 1:
            return "it has several frames, and one is wanted"
        if image.mode in ("I", "F"):
            return f"its pixels are of mode {image.mode}, which has no fixed range; save it with 8 or 16 bits"
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith("I;16"):
            # Pillow would clip 16 bits to 8; dividing keeps the picture
            eight = (np.asarray(upright, dtype=np.float32) / 257).round().astype(np.uint8)
            upright = Image.fromarray(eight)
        height, width = self._size
        shown = upright.convert(_MODES[self._channels]).resize((width, height), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(shown, dtype=np.float32) / 255)
        return pixels.reshape(height, width, self._channels).permute(2, 0, 1).contiguous()


def images(
    folder: str | Path,
    *,
    size: int | tuple[int, int] = 64,
    channels: int = 3,
    max_pixels: int = 50_000_000,
) -> Pool:
    """A pool of all pictures under a folder as [channels, height, width] in 0 to 1; ids are their paths.

    Each is turned upright as its EXIF data say, brought to `size` (height, width) and to grey (1) or
    RGB (3). Links to folders are not followed; pictures that cannot be read are quarantined.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}; give one that holds pictures")
    choose("number of channels", str(channels), map(str, _MODES))
    high, wide = (size, size) if isinstance(size, int) else size
    source = ImageSource(
        root,
        size=(positive("size", high), positive("size", wide)),
        channels=channels,
        max_pixels=positive("max_pixels", max_pixels),
    )
    if not source.ids:
        raise InputError(f"folder {str(folder)!r} holds no pictures; names end in {', '.join(SUFFIXES)}")
    return Pool(source)


def _walk(folder: Path) -> Iterator[str]:
    """The path of every entry that is named like a picture, relative to the folder."""
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:  # a folder named x.jpg is a mistake that should be seen
            if name.lower().endswith(SUFFIXES):
                yield os.path.relpath(Path(root) / name, folder)

"""One picture file to pixels: ordinary ones by Pillow, deep ones as the numbers they hold."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import IO

import numpy as np
from jaxtyping import Float32
from PIL import Image, ImageOps, UnidentifiedImageError

from askwise.pool import tiff
from askwise.pool.folder import UnreadableError
from askwise.pool.stretch import Stretch, whole_range

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
_MODES = {1: "L", 3: "RGB"}
_GREY = np.array([0.299, 0.587, 0.114], np.float32)  # how bright red, green and blue look
_MOST_PAGES = 1000
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


@dataclass(frozen=True)
class Looks:
    """How pictures are read: their size and channels, what becomes of pages, which channels are shown."""

    size: tuple[int, int]
    channels: int
    max_pixels: int
    stack: str | int
    bands: tuple[int, ...] | None


Raster = Image.Image | np.ndarray
"""An upright picture of 8 bits, or numbers [H, W, S] that want a stretch."""


def decode(file: IO[bytes], looks: Looks) -> Raster:
    """The picture in a file; what cannot be one is refused with the reason."""
    try:
        with warnings.catch_warnings(), tiff.silent("PIL.TiffImagePlugin"):
            warnings.simplefilter("ignore")  # what Pillow warns of is refused below, or harmless
            return _raster(file, looks)
    except UnreadableError:
        raise
    except UnidentifiedImageError:
        raise UnreadableError("it is not a picture in any of: " + ", ".join(FORMATS)) from None
    except Exception as error:  # decoders raise whatever they do on hostile bytes
        line = str(error).partition("\n")[0]
        raise UnreadableError(f"it cannot be decoded: {type(error).__name__}: {line}") from error


def is_deep(file: IO[bytes], looks: Looks) -> bool:
    """Whether a file seems to hold numbers that want a stretch, by its header alone."""
    try:
        with warnings.catch_warnings(), tiff.silent("PIL.TiffImagePlugin"):
            warnings.simplefilter("ignore")
            with Image.open(file, formats=FORMATS) as image:
                deep = image.mode.startswith("I") or image.mode == "F"
                return deep or (image.format == "TIFF" and bool(_beyond_pillow(image, looks)))
    except Exception:  # as above; a TIFF that Pillow does not know may be one
        file.seek(0)
        return file.read(4) in _TIFF


def decode_heic(file: IO[bytes], looks: Looks) -> Raster:
    """The picture in a HEIC file, which its decoder turns upright."""
    import pillow_heif

    try:
        found = pillow_heif.open_heif(file, convert_hdr_to_8bit=True)
        wide, high = found.size
        _check_pixels(wide, high, looks)
        picture: Image.Image = found.to_pillow()
    except UnreadableError:
        raise
    except Exception as error:  # as above
        raise UnreadableError(f"it cannot be decoded: {str(error).partition(chr(10))[0]}") from error
    return picture


def shown(raster: Raster, looks: Looks, stretch: Stretch | None) -> Float32[np.ndarray, "C H W"]:
    """The picture as networks take it: between 0 and 1, in the wanted size and channels."""
    high, wide = looks.size
    if isinstance(raster, Image.Image):
        plain = raster.convert(_MODES[looks.channels]).resize((wide, high), Image.Resampling.BILINEAR)
        pixels = np.array(plain, dtype=np.float32).reshape(high, wide, looks.channels) / 255
        return np.ascontiguousarray(pixels.transpose(2, 0, 1))
    if not np.isfinite(raster).all():
        raise UnreadableError("it holds NaN or infinite numbers")
    stretch = stretch or whole_range(raster.dtype)
    if stretch is None:
        raise UnreadableError("it holds fractions, whose range is not known; pass stretch=")
    try:
        even = stretch(raster)
    except ValueError as reason:
        raise UnreadableError(str(reason)) from reason
    small = [
        np.asarray(Image.fromarray(even[..., band]).resize((wide, high), Image.Resampling.BILINEAR))
        for band in range(even.shape[2])
    ]
    if looks.channels == 1 and len(small) == 3:
        small = [sum(weight * band for weight, band in zip(_GREY, small, strict=True))]
    return np.stack(small * looks.channels if len(small) == 1 else small)


def _raster(file: IO[bytes], looks: Looks) -> Raster:
    try:
        image = Image.open(file, formats=FORMATS)
    except (UnidentifiedImageError, Image.DecompressionBombError):
        file.seek(0)
        if file.read(4) not in _TIFF:
            raise
        return _deep_tiff(file, looks, "it is a TIFF too large for Pillow, or of a kind it does not know")
    with image:
        if image.format == "TIFF" and (why := _beyond_pillow(image, looks)):
            return _deep_tiff(file, looks, why)
        if image.format == "JPEG":  # decoded at a half, a quarter or an eighth where that is enough
            image.draft(None, (2 * max(looks.size),) * 2)
        _check_pixels(*image.size, looks)
        count = getattr(image, "n_frames", 1)
        if image.mode.startswith("I") or image.mode == "F":
            return _bands(_combined(count, lambda page: _frame(image, page), looks), looks)
        if count > 1:
            return _bands(_combined(count, lambda page: _colours(image, page), looks), looks)
        return ImageOps.exif_transpose(image)


def _beyond_pillow(image: Image.Image, looks: Looks) -> str:
    """What Pillow would spoil of a TIFF: it cuts deep colours to 8 bits; empty where nothing is."""
    tags = image.tag_v2  # type: ignore[attr-defined]
    depth, samples, kind = max(tags.get(258, (1,))), tags.get(277, 1), tags.get(262, 1)
    opaque = samples == 2 and tags.get(338, (0,))[-1] in (1, 2)  # grey, and how opaque it is
    if samples > 1 and (depth > 8 or (kind <= 1 and not opaque)):
        return f"it has {samples} channels of {depth} bits"
    if image.width * image.height > looks.max_pixels:
        return f"it has {image.width} x {image.height} pixels"
    return ""


def _frame(image: Image.Image, page: int) -> np.ndarray:
    image.seek(page)
    return np.asarray(ImageOps.exif_transpose(image))[..., None]


def _colours(image: Image.Image, page: int) -> np.ndarray:
    image.seek(page)
    plain = image.convert("L" if image.mode in ("1", "L") else "RGB")
    return np.asarray(plain).reshape(plain.height, plain.width, -1)


def _deep_tiff(file: IO[bytes], looks: Looks, why: str) -> Raster:
    with tiff.opened(file, why) as found:
        pixels = _combined(
            len(found.pages), lambda page: tiff.page(found, page, max_pixels=looks.max_pixels), looks
        )
        if found.pages[0].extrasamples[-1:] in ((1,), (2,)) and pixels.shape[2] in (2, 4):
            pixels = pixels[..., :-1]  # how opaque it is, is no channel
    return _bands(pixels, looks)


def _combined(count: int, read: Callable[[int], np.ndarray], looks: Looks) -> np.ndarray:
    """The pages as one picture [H, W, S]."""
    if isinstance(looks.stack, int):
        if looks.stack >= count:
            raise UnreadableError(f"it has {count} pages, and page {looks.stack} (from 0) is wanted")
        return read(looks.stack)
    if count == 1:
        return read(0)
    if looks.stack == "refuse":
        raise UnreadableError(
            f"it has {count} pages or frames; pass stack='max', 'mean', 'channels' or a page "
            "(askwise new --stack max)"
        )
    if count > _MOST_PAGES:
        raise UnreadableError(f"it has {count} pages, more than {_MOST_PAGES}")
    pages = _alike(read, count)
    if looks.stack == "channels":
        return np.concatenate(list(pages), axis=2)
    if looks.stack == "max":
        return reduce(np.maximum, pages)
    first = next(pages)
    mean: np.ndarray = reduce(np.add, pages, first.astype(np.float64)) / count
    return mean.round().astype(np.uint8) if first.dtype == np.uint8 else mean.astype(np.float32)


def _alike(read: Callable[[int], np.ndarray], count: int) -> Iterator[np.ndarray]:
    first = read(0)
    yield first
    for number in range(1, count):
        page = read(number)
        if page.shape != first.shape:
            raise UnreadableError("its pages differ in size; pass a single one: stack=0")
        yield page


def _bands(pixels: np.ndarray, looks: Looks) -> Raster:
    """The channels that are shown; numbers of 8 bits become an ordinary picture."""
    if looks.bands is not None:
        if max(looks.bands) >= pixels.shape[2]:
            raise UnreadableError(f"it has {pixels.shape[2]} channels, and bands={looks.bands} are wanted")
        pixels = pixels[..., list(looks.bands)]
    if pixels.shape[2] not in (1, 3):
        raise UnreadableError(f"it has {pixels.shape[2]} channels; choose one or three with bands=(0, 1, 2)")
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * 255
    if pixels.dtype == np.uint8:
        return Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else np.ascontiguousarray(pixels))
    if pixels.dtype.kind not in "fiu":
        raise UnreadableError(f"its pixels are {pixels.dtype}, and real numbers are wanted")
    return pixels


def _check_pixels(wide: int, high: int, looks: Looks) -> None:
    if wide * high > looks.max_pixels:
        raise UnreadableError(
            f"it has {wide} x {high} pixels, more than {looks.max_pixels}; shrink it, or raise max_pixels"
        )

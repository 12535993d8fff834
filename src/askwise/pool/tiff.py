"""What Pillow cannot read of a TIFF: many channels, 16-bit colours, fractions, and the very large."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from askwise.pool.folder import UnreadableError

_ADVICE = "pip install 'askwise[vision]'"
_MOST_CHANNELS = 512
_THUMBNAIL = 4_000_000  # pixels that are kept of a picture too large to be read whole


@contextmanager
def silent(library: str) -> Iterator[None]:
    """Switch off a library's log in this block: what matters about a damaged file is raised as an error."""
    logger = logging.getLogger(library)
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was


@contextmanager
def opened(file: IO[bytes], why: str) -> Iterator[Any]:
    """The file by the library tifffile; `why` says what it is needed for."""
    try:
        import tifffile
    except ImportError:
        raise UnreadableError(f"{why}, which needs tifffile: {_ADVICE}") from None
    file.seek(0)
    try:
        with silent("tifffile"), tifffile.TiffFile(file, name="picture.tif") as tiff:
            yield tiff
    except tifffile.TiffFileError as reason:
        raise UnreadableError(f"it cannot be decoded: {reason}") from reason


def page(tiff: Any, number: int, *, max_pixels: int) -> np.ndarray:
    """One page [H, W, S]; of one with more than `max_pixels` every k-th row and column."""
    found = tiff.pages[number]
    _check(found, max_pixels)
    if found.imagewidth * found.imagelength <= max_pixels:
        return _channels_last(found.asarray(maxworkers=1), found.planarconfig == 2)
    return _thinned(found)


def _check(found: Any, max_pixels: int) -> None:
    """Refuse what a damaged or hostile header claims, before time or memory is spent on it."""
    if found.dtype is None or found.imagedepth != 1:
        raise UnreadableError("its pixels are of a kind that cannot be read")
    if found.samplesperpixel > _MOST_CHANNELS:
        raise UnreadableError(f"it has {found.samplesperpixel} channels, more than {_MOST_CHANNELS}")
    pieces = int(np.prod(found.chunked))
    if pieces != len(found.dataoffsets):
        raise UnreadableError(f"it wants {pieces} pieces, and has {len(found.dataoffsets)}")
    piece = int(np.prod(found.chunks))
    if piece > max_pixels * found.samplesperpixel:
        raise UnreadableError(f"it is stored in pieces of {piece} numbers, too large to be read one by one")


def _channels_last(pixels: np.ndarray, planar: bool) -> np.ndarray:
    if pixels.ndim == 2:
        return pixels[..., None]
    if pixels.ndim != 3:
        raise UnreadableError(f"its pages have {pixels.ndim} axes, and height, width and channels are wanted")
    return np.moveaxis(pixels, 0, 2) if planar else pixels


def _thinned(found: Any) -> np.ndarray:
    """Every k-th row and column, taken piece by piece: the whole is never in memory."""
    high, wide = found.imagelength, found.imagewidth
    step = int(np.ceil(np.sqrt(high * wide / _THUMBNAIL)))
    kept = np.zeros((-(-high // step), -(-wide // step), found.samplesperpixel), found.dtype)
    for pixels, (plane, _, top, left, _), _ in found.segments(maxworkers=1):
        if pixels is None:
            continue  # a piece that was left out is empty
        part = pixels[0, -top % step :: step, -left % step :: step]
        row, column = -(-top // step), -(-left // step)
        part = part[: kept.shape[0] - row, : kept.shape[1] - column]
        place = kept[row : row + part.shape[0], column : column + part.shape[1]]
        place[..., plane : plane + part.shape[2]] = part
    return kept

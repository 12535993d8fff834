"""Pictures to arrays: of the size that was wanted and no other, whole or shrunk."""

import io
from pathlib import Path

import numpy as np
from jaxtyping import Float32, UInt8

from askwise.errors import CorruptError, InputError, positive


def pixels(
    content: bytes, *, kind: str, mode: str, size: tuple[int, int], where: Path | str
) -> UInt8[np.ndarray, "H W *colours"]:
    """The pixels of a PNG or JPEG picture, which must have this size (width, height) and mode."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=[kind]) as picture:
            if picture.size != size or picture.mode != mode:
                found = f"{picture.size[0]} x {picture.size[1]} {picture.mode}"
                raise CorruptError(f"{where} is a picture of {found}, not {size[0]} x {size[1]} {mode}")
            return np.asarray(picture)
    except (UnidentifiedImageError, OSError, SyntaxError) as reason:
        raise CorruptError(f"{where} cannot be read as a {kind} picture: {reason}") from reason


def divisor(shrink: int, *, size: tuple[int, int]) -> int:
    """`shrink`, if pictures of this size can be made `shrink` times smaller."""
    if any(side % positive("shrink", shrink) for side in size):
        raise InputError(f"shrink must divide {size[0]} and {size[1]}, and {shrink} does not")
    return shrink


def scaled(picture: UInt8[np.ndarray, "H W 3"], *, shrink: int = 1) -> Float32[np.ndarray, "3 h w"]:
    """Colours from 0 to 1, channels first; each pixel is the mean of `shrink` x `shrink` of them."""
    height, width, _ = picture.shape
    blocks = picture.reshape(height // shrink, shrink, width // shrink, shrink, 3)
    means = blocks.mean(axis=(1, 3), dtype=np.float32)
    return np.ascontiguousarray((means / 255).transpose(2, 0, 1), dtype=np.float32)


def nearest(mask: UInt8[np.ndarray, "H W"], *, shrink: int = 1) -> UInt8[np.ndarray, "h w"]:
    """One pixel of every `shrink` x `shrink`: classes have no mean."""
    return mask[shrink // 2 :: shrink, shrink // 2 :: shrink]

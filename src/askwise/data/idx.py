"""The idx format of MNIST: a magic number, the sizes of the axes, and the bytes."""

import struct
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

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

"""MNIST out of the pickle in a wheel, read so that it can hold numpy arrays and nothing else."""

import gzip
import io
import pickle
import zlib
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from askwise.data import idx
from askwise.data.idx import TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS
from askwise.errors import CorruptError

_LARGEST = 2**28  # bytes of the pickle; the published one has 220 million
_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _ArraysOnly(pickle.Unpickler):
    """Builds arrays, tuples and numbers; any other name in the pickle stops it."""

    def find_class(self, module: str, name: str) -> Any:
        key = (module.replace("numpy._core", "numpy.core"), name)
        if key not in _ADMITTED:
            raise CorruptError(f"the pickle asks for {module}.{name}, and only numpy arrays are admitted")
        return _ADMITTED[key]


def unpack(packed: bytes, *, side: int = 28) -> dict[str, bytes]:
    """The four idx files of the wheel's `mnist.pkl.gz`: its training and validation parts joined."""
    try:
        with gzip.open(io.BytesIO(packed)) as stream:
            content = stream.read(_LARGEST)
        parts = _ArraysOnly(io.BytesIO(content), encoding="latin1").load()
        (train_x, train_y), (valid_x, valid_y), (test_x, test_y) = parts
        return {
            TRAIN_IMAGES: _images(np.concatenate([train_x, valid_x]), side),
            TRAIN_LABELS: _labels(np.concatenate([train_y, valid_y])),
            TEST_IMAGES: _images(test_x, side),
            TEST_LABELS: _labels(test_y),
        }
    except (pickle.UnpicklingError, EOFError, OSError, zlib.error, TypeError, ValueError) as reason:
        raise CorruptError(f"the pickle of MNIST cannot be read: {reason}") from reason


def _images(pixels: Float[np.ndarray, "N D"], side: int) -> bytes:
    whole: UInt8[np.ndarray, "N H W"] = np.rint(pixels * 256).astype(np.uint8).reshape(-1, side, side)
    return idx.header(whole.shape) + whole.tobytes()


def _labels(labels: Int[np.ndarray, " N"]) -> bytes:
    return idx.header(labels.shape) + labels.astype(np.uint8).tobytes()

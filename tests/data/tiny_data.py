"""Data sets of a few items, in the very formats of the large ones, for the tests of this folder."""

import gzip
import io
import json
import tarfile
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from askwise.data import idx
from askwise.data.idx_set import TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS, IdxSet
from askwise.data.png_set import PngSet

TRAIN, TEST, SIDE = 6, 4, 3


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def idx_contents() -> dict[str, bytes]:
    """The four idx files of a set of 6 + 4 items of 3 x 3 pixels in 3 classes."""
    rng = np.random.default_rng(0)

    def images(count: int) -> bytes:
        pixels = rng.integers(0, 256, (count, SIDE, SIDE)).astype(np.uint8)
        return idx.header((count, SIDE, SIDE)) + pixels.tobytes()

    def labels(count: int) -> bytes:
        return idx.header((count,)) + (np.arange(count) % 3).astype(np.uint8).tobytes()

    return {
        TRAIN_IMAGES: images(TRAIN),
        TRAIN_LABELS: labels(TRAIN),
        TEST_IMAGES: images(TEST),
        TEST_LABELS: labels(TEST),
    }


def idx_set(contents: dict[str, bytes]) -> IdxSet:
    digests = {name: digest(content) for name, content in contents.items()}
    return IdxSet(name="mnist", classes=("a", "b", "c"), digests=digests, train=TRAIN, test=TEST, side=SIDE)


def png_contents() -> dict[str, bytes]:
    """Two training pictures and one test picture of 4 items each, 2 x 2 pixels, and their labels."""
    rng = np.random.default_rng(1)

    def picture() -> bytes:
        stream = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (4, 4, 3)).astype(np.uint8)).save(stream, "PNG")
        return stream.getvalue()

    return {
        "one.png": picture(),
        "two.png": picture(),
        "test.png": picture(),
        "train.json": json.dumps([0, 1, 0, 1, 1, 1, 0, 0]).encode(),
        "test.json": json.dumps([0, 1, 1, 0]).encode(),
    }


def png_set(contents: dict[str, bytes]) -> PngSet:
    return PngSet(
        name="cifar10",
        classes=("cat", "dog"),
        digests={name: digest(content) for name, content in contents.items()},
        train_pictures=("one.png", "two.png"),
        test_pictures=("test.png",),
        train_labels="train.json",
        test_labels="test.json",
        rows=4,
        side=2,
    )


def put(folder: Path, contents: dict[str, bytes], *, packed: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


def tarball(contents: dict[str, bytes], *, mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()

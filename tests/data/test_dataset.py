import numpy as np
import pytest
import torch

from askwise.data.dataset import Arrays, dataset
from askwise.errors import CorruptError


def arrays(labels=(0, 1)) -> Arrays:
    pixels = np.array([[[[0, 255]]], [[[51, 102]]]], dtype=np.uint8)
    return Arrays(pixels, np.array(labels, dtype=np.uint8), pixels[:1], np.zeros(1, dtype=np.uint8))


def test_the_brightest_pixel_becomes_one():
    data = dataset("tiny", ("a", "b"), arrays())
    assert torch.equal(data.train_x.flatten(), torch.tensor([0, 1, 0.2, 0.4]))
    assert data.train_x.dtype == torch.float32
    assert data.train_y.dtype == torch.int64


def test_ids_are_unique_and_tell_name_part_and_position():
    data = dataset("tiny", ("a", "b"), arrays())
    assert data.train_ids == ("tiny-train-00000", "tiny-train-00001")
    assert data.test_ids == ("tiny-test-00000",)


def test_a_label_without_a_class_is_refused():
    with pytest.raises(CorruptError, match="tiny has 2 classes and a train label 7"):
        dataset("tiny", ("a", "b"), arrays(labels=(0, 7)))

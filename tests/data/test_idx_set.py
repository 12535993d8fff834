import numpy as np
import pytest
from tiny_data import idx_contents, idx_set, put

from askwise.data import idx
from askwise.data.idx import TEST_LABELS, TRAIN_IMAGES, TRAIN_LABELS
from askwise.errors import CorruptError


@pytest.mark.parametrize("packed", [False, True])
def test_the_four_files_become_arrays(tmp_path, packed):
    contents = idx_contents()
    arrays = idx_set(contents).arrays(put(tmp_path, contents, packed=packed))
    assert arrays.train_x.shape == (6, 1, 3, 3)
    assert arrays.test_x.shape == (4, 1, 3, 3)
    assert arrays.train_x.tobytes() == contents[TRAIN_IMAGES][16:]
    assert np.array_equal(arrays.train_y, [0, 1, 2, 0, 1, 2])


def test_one_changed_pixel_is_noticed(tmp_path):
    contents = idx_contents()
    changed = contents[TRAIN_IMAGES][:-1] + bytes([contents[TRAIN_IMAGES][-1] ^ 1])
    folder = put(tmp_path, {**contents, TRAIN_IMAGES: changed})
    with pytest.raises(CorruptError, match=f"{TRAIN_IMAGES} is not the published file"):
        idx_set(contents).arrays(folder)


def test_a_count_that_differs_from_the_images_is_refused(tmp_path):
    contents = {**idx_contents(), TRAIN_LABELS: idx.header((5,)) + bytes(5)}
    with pytest.raises(CorruptError, match=f"{TRAIN_LABELS} says it holds 5 bytes, not 6"):
        idx_set(contents).arrays(put(tmp_path, contents))


def test_images_in_place_of_labels_are_refused(tmp_path):
    contents = idx_contents()
    contents[TEST_LABELS] = contents[TRAIN_IMAGES]
    with pytest.raises(CorruptError, match=f"{TEST_LABELS} is not an idx file of 1 axes"):
        idx_set(contents).arrays(put(tmp_path, contents))


def test_a_truncated_file_is_refused(tmp_path):
    contents = idx_contents()
    contents[TRAIN_IMAGES] = contents[TRAIN_IMAGES][:-5]
    with pytest.raises(CorruptError, match=f"{TRAIN_IMAGES} is cut off: 49 of 6 x 3 x 3 bytes"):
        idx_set(contents).arrays(put(tmp_path, contents))

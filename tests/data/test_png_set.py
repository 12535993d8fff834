import io

import numpy as np
import pytest
from PIL import Image
from tiny_data import png_contents, png_set, put

from askwise.errors import CorruptError


def test_rows_of_a_picture_become_images_with_channels_first(tmp_path):
    contents = png_contents()
    arrays = png_set(contents).arrays(put(tmp_path, contents))
    assert arrays.train_x.shape == (8, 3, 2, 2)
    rows = np.asarray(Image.open(io.BytesIO(contents["two.png"])))
    for channel in range(3):
        assert np.array_equal(arrays.train_x[4 + 1, channel].ravel(), rows[1, :, channel])
    assert np.array_equal(arrays.test_y, [0, 1, 1, 0])


def test_a_changed_byte_is_noticed_before_it_is_decoded(tmp_path):
    contents = png_contents()
    folder = put(tmp_path, {**contents, "one.png": contents["one.png"][:-1] + b"x"})
    with pytest.raises(CorruptError, match=r"one\.png is not the published file"):
        png_set(contents).arrays(folder)


def test_a_picture_of_another_size_is_refused(tmp_path):
    stream = io.BytesIO()
    Image.new("L", (4, 5)).save(stream, "PNG")
    contents = {**png_contents(), "test.png": stream.getvalue()}
    with pytest.raises(CorruptError, match=r"test\.png is a picture of 4 x 5 L, not 4 x 4 RGB"):
        png_set(contents).arrays(put(tmp_path, contents))


@pytest.mark.parametrize("content", [b"no picture", png_contents()["one.png"][:60]])
def test_what_is_no_whole_picture_is_refused(tmp_path, content):
    contents = {**png_contents(), "one.png": content}
    with pytest.raises(CorruptError, match=r"one\.png cannot be read as a PNG picture"):
        png_set(contents).arrays(put(tmp_path, contents))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[0, 1", "train.json is not JSON"),
        (b"{}", "train.json holds no list of labels, not 8 labels"),
        (b"[0, 1]", "train.json holds 2 labels, not 8 labels"),
        (b"[0, 1, 0, 1, 0, 1, 0, 2]", "train.json holds labels outside 0 to 1"),
        (b"[0, 1, 0, 1, 0, 1, 0, true]", "train.json holds labels outside 0 to 1"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, content, message):
    contents = {**png_contents(), "train.json": content}
    with pytest.raises(CorruptError, match=message):
        png_set(contents).arrays(put(tmp_path, contents))

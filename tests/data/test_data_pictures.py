import numpy as np
import pytest
from tiny_data import picture

from askwise.data.pictures import divisor, nearest, pixels, scaled
from askwise.errors import CorruptError, InputError

COLOURS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


def test_a_png_is_read_as_it_was_written():
    found = pixels(picture(COLOURS), kind="PNG", mode="RGB", size=(4, 4), where="a")
    assert np.array_equal(found, COLOURS)


def test_another_kind_than_wanted_is_not_even_tried():
    with pytest.raises(CorruptError, match="a cannot be read as a JPEG picture"):
        pixels(picture(COLOURS), kind="JPEG", mode="RGB", size=(4, 4), where="a")


def test_a_huge_picture_is_refused_by_its_head():
    huge = picture(np.zeros((3000, 3000), dtype=np.uint8))
    with pytest.raises(CorruptError, match="a is a picture of 3000 x 3000 L, not 4 x 4 L"):
        pixels(huge, kind="PNG", mode="L", size=(4, 4), where="a")


def test_colours_go_to_one_with_the_channels_first():
    found = scaled(COLOURS)
    assert found.shape == (3, 4, 4)
    assert np.allclose(found[1], COLOURS[..., 1] / 255)


def test_a_shrunk_pixel_is_the_mean_of_its_block():
    found = scaled(COLOURS, shrink=2)
    assert np.isclose(found[2, 1, 0], COLOURS[2:, :2, 2].mean() / 255)


def test_a_shrunk_mask_has_no_label_that_was_not_there():
    mask = np.array([[0, 5, 0, 9]] * 4, dtype=np.uint8)
    assert set(nearest(mask, shrink=2).ravel()) == {5, 9}
    assert np.array_equal(nearest(mask), mask)


def test_only_a_divisor_shrinks():
    assert divisor(3, size=(9, 6)) == 3
    with pytest.raises(InputError, match="shrink must divide 9 and 6, and 2 does not"):
        divisor(2, size=(9, 6))
    with pytest.raises(InputError, match="shrink must be a whole number of at least 1, not 0"):
        divisor(0, size=(9, 6))

import io

import numpy as np
import pytest
import torch
from PIL import Image

from askwise.errors import InputError
from askwise.report.pictures import png


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def test_grey_pixels_come_back():
    pixels = torch.tensor([[[0, 0.2], [0.4, 1]]])
    assert np.array_equal(np.asarray(opened(png(pixels))), [[0, 51], [102, 255]])


def test_colours_keep_their_channels():
    red = torch.zeros(3, 2, 2)
    red[0] = 1
    assert opened(png(red)).getpixel((0, 0)) == (255, 0, 0)


def test_a_large_picture_is_shrunk_and_keeps_its_shape():
    assert opened(png(torch.rand(3, 400, 200), largest=50)).size == (25, 50)


def test_a_small_picture_is_not_enlarged():
    assert opened(png(torch.rand(1, 8, 8))).size == (8, 8)


def test_values_outside_are_cut_and_nothing_is_black():
    pixels = torch.tensor([[[-1, 2.0, float("nan")]]])
    assert np.asarray(opened(png(pixels))).tolist() == [[0, 255, 0]]


def test_other_channels_are_refused():
    with pytest.raises(InputError, match="a picture has 1 or 3 channels, not 2"):
        png(torch.rand(2, 4, 4))

from pathlib import Path

import numpy as np
import pytest

from askwise.data.idx import header, parse
from askwise.errors import CorruptError

PATH = Path("images")


def test_bytes_come_back_in_their_shape():
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    assert np.array_equal(parse(header((3, 2, 2)) + pixels.tobytes(), shape=(3, 2, 2), path=PATH), pixels)


def test_the_magic_numbers_are_those_of_mnist():
    assert header((1, 1, 1))[:4].hex() == "00000803"
    assert header((1,))[:4].hex() == "00000801"


def test_a_wrong_magic_number_is_named():
    with pytest.raises(CorruptError, match="images is not an idx file of 1 axes: begins with 00000803, not"):
        parse(header((3, 2, 2)) + bytes(12), shape=(12,), path=PATH)


def test_an_empty_file_is_refused():
    with pytest.raises(CorruptError, match="begins with nothing"):
        parse(b"", shape=(12,), path=PATH)


def test_wrong_counts_are_named():
    with pytest.raises(CorruptError, match="images says it holds 2 x 2 x 2 bytes, not 3 x 2 x 2"):
        parse(header((2, 2, 2)) + bytes(8), shape=(3, 2, 2), path=PATH)


def test_a_cut_header_is_refused():
    with pytest.raises(CorruptError, match="images ends inside its header, after 7 bytes"):
        parse(header((3, 2, 2))[:7], shape=(3, 2, 2), path=PATH)


def test_a_cut_file_is_refused():
    with pytest.raises(CorruptError, match="images is cut off: 11 of 3 x 2 x 2 bytes"):
        parse(header((3, 2, 2)) + bytes(11), shape=(3, 2, 2), path=PATH)


def test_bytes_beyond_the_end_are_refused():
    with pytest.raises(CorruptError, match="images is longer than its 3 x 2 x 2 bytes"):
        parse(header((3, 2, 2)) + bytes(13), shape=(3, 2, 2), path=PATH)

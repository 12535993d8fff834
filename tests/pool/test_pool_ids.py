import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import InputError
from askwise.pool import ids


@given(st.lists(st.binary(min_size=1, max_size=12), unique=True, max_size=20))
def test_different_paths_have_different_ids_that_fit_on_one_printable_line(names):
    found = [ids.of_path(name.decode("utf-8", "surrogateescape")) for name in names]
    assert len(set(found)) == len(names)
    assert all(identity.isprintable() and identity.encode() for identity in found)


def test_an_ordinary_path_is_its_own_id():
    assert ids.of_path("cats/ünï 1.jpg") == "cats/ünï 1.jpg"
    assert ids.of_path("a\nb\\\udcff") == "a\\u000ab\\\\\\xff"


def test_an_array_is_known_by_type_shape_and_values():
    row = np.arange(6, dtype=np.float32)
    same = ids.of_array(row.copy())
    assert ids.of_array(row) == same
    assert ids.of_array(np.arange(12, dtype=np.float32)[::2][:6] / 2) == same  # not contiguous
    others = [row.astype(np.float64), row.reshape(2, 3), row + 1]
    assert same not in map(ids.of_array, others)


def test_repeats_are_numbered():
    assert list(ids.numbered(["a", "b", "a", "a"])) == ["a", "b", "a~2", "a~3"]


def test_own_ids_must_be_as_many_as_items_and_unique():
    assert ids.given([1, "x"], 2) == ["1", "x"]
    with pytest.raises(InputError, match="one id for each of the 3 items is wanted, not 2"):
        ids.given(["a", "b"], 3)
    with pytest.raises(InputError, match="unique, and 'a' occurs twice"):
        ids.given(["a", "b", "a"], 3)

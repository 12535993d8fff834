"""Cells that no spreadsheet computes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.pool.tables import neutral, restored

CELLS = st.text(alphabet=st.sampled_from("'=+-@\t\r\nab 1"), max_size=6)


@given(CELLS)
def test_what_was_neutralised_comes_back(cell):
    assert restored(neutral(cell)) == cell


@given(CELLS)
def test_no_neutral_cell_begins_like_a_formula(cell):
    assert not neutral(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(CELLS, CELLS)
def test_different_cells_stay_different(one, other):
    assert (neutral(one) == neutral(other)) == (one == other)


@pytest.mark.parametrize("cell", ["cat", "", "'tis", "a=b", "3.5", "'"])
def test_what_is_no_formula_is_left_as_it_is(cell):
    assert neutral(cell) == restored(cell) == cell

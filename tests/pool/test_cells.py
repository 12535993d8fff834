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
def test_no_neutral_cell_but_a_number_begins_like_a_formula(cell):
    found = neutral(cell)
    assert not found.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) or float(found) < 1


@pytest.mark.parametrize("cell", ["-6.73", "-1", "-1e-300", "-2.5e+22", "-1.0|-2.5"])
def test_a_number_stays_one(cell):
    assert neutral(cell) == restored(cell) == cell


@pytest.mark.parametrize(
    "cell", ["-", "-1+2", "-1-2", "+1", "-1|cmd", "-1 ", "-1\n", "-.5", "-a", "--1", "=1", "@1", "-1|"]
)
def test_what_only_begins_like_a_number_is_defused(cell):
    assert neutral(cell) == f"'{cell}"
    assert restored(f"'{cell}") == cell


@given(CELLS, CELLS)
def test_different_cells_stay_different(one, other):
    assert (neutral(one) == neutral(other)) == (one == other)


@pytest.mark.parametrize("cell", ["cat", "", "'tis", "a=b", "3.5", "'"])
def test_what_is_no_formula_is_left_as_it_is(cell):
    assert neutral(cell) == restored(cell) == cell

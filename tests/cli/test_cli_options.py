import pytest

from askwise.cli.options import seeds
from askwise.errors import InputError


@pytest.mark.parametrize(
    ("text", "wanted"), [("7", [7]), ("0-4", [0, 1, 2, 3, 4]), ("0,3", [0, 3]), ("5-5, 8-9", [5, 8, 9])]
)
def test_seeds_are_numbers_and_ranges(text, wanted):
    assert seeds(text) == wanted


@pytest.mark.parametrize("text", ["", "abc", "-1", "1-", "1..3", "0-99999", "3-1", "1,1", "1e3", "0x1", "٣"])
def test_anything_else_is_refused(text):
    with pytest.raises(InputError, match="seeds"):
        seeds(text)

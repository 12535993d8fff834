"""The plan of a project as a file."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import InputError
from askwise.loop.plan import make
from askwise.project.plan_file import choices, written
from askwise.project.sources import Source

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.lists(NAMES, min_size=2, unique=True), NAMES)
def test_whatever_is_written_is_read_back(classes, path):
    values = choices(Source("features", Path(path)), classes, shape=(4,))
    assert tomllib.loads(written(values, name=path)) == values


def test_every_plan_that_is_written_can_be_made():
    for kind, shape in (("features", (4,)), ("arrays", (3, 8, 8)), ("table", (4,)), ("images", (3, 32, 32))):
        for classes in (["a", "b"], ["a", "b", "c"]):
            made = make(choices(Source(kind, Path("x")), classes, shape=shape))
            assert made.acquire == ("bald" if len(classes) == 2 else "margin")
            assert made.initial.count == 3 * len(classes)


def test_a_name_that_is_not_utf8_is_refused():
    values = choices(Source("features", Path("x\udcff")), ["a", "b"], shape=(4,))
    with pytest.raises(InputError, match="not UTF-8"):
        written(values, name="p")

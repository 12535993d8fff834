import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.errors import InputError
from askwise.store.labels import Mask, Numbers, Tags, read, written

NUMBERS = st.integers(0, 50)
RAW = st.one_of(
    NUMBERS,
    st.lists(NUMBERS, unique=True),
    st.tuples(st.floats(allow_nan=False, allow_infinity=False)),
    st.text(),
)


def label(raw):
    match raw:
        case list():
            return Tags(tuple(raw[::2]), tuple(raw[1::2]))
        case tuple():
            return Numbers(raw)
        case str():
            return Mask(raw, "ab" * 32)
    return raw


@given(RAW, RAW)
def test_every_label_is_read_as_it_was_written_and_no_two_are_written_alike(one, other):
    assert read(written(label(one))) == label(one)
    assert written(label(one)) != written(label(other)) or label(one) == label(other)


def test_the_order_in_which_tags_are_given_does_not_matter():
    assert written(Tags((3, 1), (2,))) == written(Tags((1, 3, 1), (2,)))


def test_what_is_no_label_is_refused():
    with pytest.raises(InputError, match="tag 1 is both given and unknown"):
        Tags((1,), (1,))
    with pytest.raises(InputError, match="finite"):
        Numbers((float("nan"),))
    for wrong in (True, "cat", 1.5):
        with pytest.raises(Exception, match="label"):
            written(wrong)
    with pytest.raises(InputError, match="no label is written as"):
        read('{"colour": 1}')

import pytest
from tiny_data import goemotions_contents, goemotions_set, put

from askwise.errors import CorruptError


@pytest.mark.parametrize("packed", [False, True])
def test_comments_have_any_number_of_tags(tmp_path, packed):
    data = goemotions_set(goemotions_contents()).dataset(put(tmp_path, goemotions_contents(), packed=packed))
    assert data.task == "multilabel"
    assert data.train_x == ["I like\u2028this", "Oh no"]  # a separator inside a text is no end of line
    assert data.train_y.tolist() == [[1, 0, 1], [0, 1, 0]]
    assert data.train_ids == ("goemotions-tr0", "goemotions-tr1")
    assert data.validation.x == ["Hm"]
    assert data.test_y.tolist() == [[1, 0, 0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A\t0\ta\n", "train.tsv holds 1 texts, not 2"),
        (b"A\t0\ta\nB\t3\tb\n", "line 2 of .*train.tsv is not a text, tags 0 to 2 and an id"),
        (b"A\t\ta\nB\t1\tb\n", "line 1 of .*train.tsv is not a text"),
        (b"A\t-1\ta\nB\t1\tb\n", "line 1 of .*train.tsv is not a text"),
        (b"A 0\nB\t1\tb\n", "line 1 of .*train.tsv is not a text"),
        (b"\xff\t0\ta\nB\t1\tb\n", "train.tsv is not utf-8"),
    ],
    ids=["a text too few", "unknown tag", "no tag", "negative tag", "no columns", "no utf-8"],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path, content, message):
    contents = {**goemotions_contents(), "train.tsv": content}
    with pytest.raises(CorruptError, match=message):
        goemotions_set(contents).dataset(put(tmp_path, contents))

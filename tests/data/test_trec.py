import pytest
from tiny_data import put, trec_contents, trec_set

from askwise.errors import CorruptError


def load(tmp_path, **options):
    return trec_set(trec_contents()).dataset(put(tmp_path, trec_contents()), **options)


def test_questions_have_a_coarse_class(tmp_path):
    data = load(tmp_path)
    assert data.train_x == ["When ?", "Which sister\xf0city ?", "How many ?"]
    assert [data.classes[label] for label in data.train_y] == ["NUM", "LOC", "NUM"]
    assert data.test_y.tolist() == [0]
    assert data.train_ids[2] == "trec-train-00002"


def test_questions_have_a_fine_class_if_asked(tmp_path):
    data = load(tmp_path, fine=True)
    assert data.classes == ("LOC:city", "NUM:count", "NUM:date")
    assert data.train_y.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"LOC:city Where ?\nLOC:city There ?\n", "TREC_10.label holds 2 texts, not 1"),
        (b"Where ?\n", "line 1 of .*TREC_10.label is not COARSE:fine and a question"),
        (b"HUM:ind Who ?\n", "a question of the unknown class HUM"),
    ],
    ids=["a text too many", "no label", "unknown class"],
)
def test_what_does_not_fit_is_named(tmp_path, content, message):
    contents = {**trec_contents(), "TREC_10.label": content}
    with pytest.raises(CorruptError, match=message):
        trec_set(contents).dataset(put(tmp_path, contents))

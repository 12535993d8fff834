import pytest
from tiny_data import put, xed_contents, xed_set

from askwise.errors import CorruptError, InputError


def load(tmp_path, **options):
    return xed_set(xed_contents()).dataset(put(tmp_path, xed_contents()), **options)


def test_pieces_of_the_alignment_are_no_sentences(tmp_path):
    data = load(tmp_path)
    texts = [*data.train_x, *data.test_x]
    assert sorted(texts) == sorted(f"Phrase {number} !" for number in range(30))
    assert data.train_y[0].tolist() == [1, 0, 0, 0, 0, 0, 0, 1]


def test_about_a_fifth_is_for_testing_and_equal_sentences_stay_together(tmp_path):
    data = load(tmp_path)
    assert 1 <= len(data.test_x) <= 12
    assert not set(data.train_x) & set(data.test_x)
    assert load(tmp_path).test_ids == data.test_ids
    contents = {**xed_contents(), "fr-projections.tsv": b"Encore\t1\r\n" * 30}
    again = xed_set(contents).dataset(put(tmp_path, contents))
    assert 0 in (len(again.train_x), len(again.test_x))


def test_the_language_is_a_choice(tmp_path):
    data = load(tmp_path, language="en")
    assert sorted([*data.train_x, *data.test_x]) == ["Go away", "Hello there"]
    assert all(one.startswith("xed-en-") for one in data.train_ids + data.test_ids)
    with pytest.raises(InputError, match="unknown language 'de'; choose one of: fr, en"):
        load(tmp_path, language="de")


def test_another_number_of_sentences_is_refused(tmp_path):
    contents = {**xed_contents(), "fr-projections.tsv": b"Bonjour\t9\r\nSalut\t1\r\n"}
    with pytest.raises(CorruptError, match=r"fr-projections\.tsv holds 1 texts, not 30"):
        xed_set(contents).dataset(put(tmp_path, contents))

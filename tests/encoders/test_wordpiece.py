"""Texts are split as BERT splits them."""

import json

import pytest
from tiny_bert import VOCABULARY, write

from askwise.encoders import wordpiece
from askwise.encoders.wordpiece import WordPiece
from askwise.errors import InputError

NUMBER = {piece: number for number, piece in enumerate(VOCABULARY)}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the cat sat!", ["the", "cat", "sat", "!"]),
        ("Playing PLAYS", ["play", "##ing", "play", "##s"]),
        ("Café\u0301", ["cafe"]),
        ("cat日sat", ["cat", "日", "sat"]),
        ("ca\u200bt\tsat\x07", ["cat", "sat"]),
        ("dog", ["[UNK]"]),
        ("playdog", ["[UNK]"]),
        ("cat" * 40, ["[UNK]"]),
        ("[CLS]", ["[UNK]", "[UNK]", "[UNK]"]),
        (" \n ", []),
    ],
)
def test_a_text_becomes_its_longest_known_pieces(text, pieces):
    found = WordPiece(NUMBER, lower=True)
    assert found.ids(text) == [NUMBER[piece] for piece in pieces]
    assert found.ids(text) == [NUMBER[piece] for piece in pieces]  # the second time from memory


def test_case_counts_where_the_folder_says_so(tmp_path):
    folder = write(tmp_path)
    assert wordpiece.read(folder).ids("The") == [NUMBER["the"]]
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert wordpiece.read(folder).ids("The") == [NUMBER["[UNK]"]]


def test_tokenizer_json_comes_before_vocab_txt(tmp_path):
    folder = write(tmp_path)
    whole = {
        "normalizer": {"lowercase": False},
        "model": {"type": "WordPiece", "vocab": {**NUMBER, "Sat": 13}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    assert wordpiece.read(folder).ids("Sat") == [13]
    whole["model"]["type"] = "BPE"
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    with pytest.raises(InputError, match="splits texts by BPE, not as BERT does"):
        wordpiece.read(folder)
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        wordpiece.read(folder)


def test_a_folder_without_a_vocabulary_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no tokenizer\.json and no vocab\.txt"):
        wordpiece.read(tmp_path)
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"lacks \[PAD\], \[UNK\], \[CLS\], \[SEP\]"):
        wordpiece.read(tmp_path)

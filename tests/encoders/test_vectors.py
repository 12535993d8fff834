"""French texts by the vectors of their words, from files as spaCy writes them."""

import struct
import unicodedata

import numpy as np
import pytest
import torch

import askwise as aw
from askwise.encoders import vectors
from askwise.errors import CorruptError

WORDS = ["le", "chat", "l'", "amour", "Paris", ".", "...", "peut-être", "été", "aux", "bonjour", "très"]


def packed(pairs):
    """A msgpack map: keys of eight bytes, values in the shortest form."""
    out = struct.pack(">BI", 0xDF, len(pairs))
    for key, row in pairs.items():
        short = struct.pack(">B", row) if row < 128 else struct.pack(">BH", 0xCD, row)
        out += struct.pack(">BQ", 0xCF, key) + short
    return out


@pytest.fixture
def vocabulary(tmp_path):
    """A folder with 300 vectors of three numbers; the last of the words has a row that needs two bytes."""
    rows = dict(zip(WORDS, [*range(len(WORDS) - 1), 299], strict=True))
    np.save(tmp_path / "vectors.npy", np.arange(900, dtype=np.float32).reshape(300, 3))
    (tmp_path / "vectors.npy").rename(tmp_path / "vectors")
    (tmp_path / "key2row").write_bytes(packed({vectors.key(word): row for word, row in rows.items()}))
    return tmp_path / "vectors"


@pytest.mark.parametrize(("word", "known"), [("coffee", 3197928453018144401), ("apple", 8566208034543834098)])
def test_words_have_the_keys_that_spacys_documentation_prints(word, known):
    assert vectors.key(word) == known


def test_keys_of_all_lengths_differ():
    assert len({vectors.key("é" * count) for count in range(40)}) == 40


def test_a_text_is_the_mean_of_its_words(vocabulary):
    encoder = vectors.read(vocabulary)
    table = torch.arange(900.0).reshape(300, 3)
    found = encoder(encoder.tokens(["Le chat.", "l’amour", "inconnu", ""], length=8))
    torch.testing.assert_close(found[0], table[[0, 1, 5]].mean(dim=0))
    torch.testing.assert_close(found[1], table[[2, 3]].mean(dim=0))
    assert not found[2:].any()
    assert encoder.width == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Paris paris CHAT",
            ["Paris", "chat"],
        ),  # as it is written, then in small letters: the city is no name
        ("peut-être très-chat", ["peut-être", "très", "chat"]),
        ("...", ["..."]),
        ("'bonjour'", ["bonjour"]),
        (unicodedata.normalize("NFD", "été"), ["été"]),
        ("aux chats", ["aux"]),
        ("L’amour", ["l'", "amour"]),
    ],
)
def test_a_text_is_taken_apart_into_words_that_have_vectors(vocabulary, text, words):
    rows = dict(zip(WORDS, [*range(len(WORDS) - 1), 299], strict=True))
    assert vectors.read(vocabulary)._tokenizer.ids(text) == [rows[word] + 1 for word in words]


def test_a_text_of_many_windows_is_the_mean_of_all_its_words(vocabulary):
    encoder = vectors.read(vocabulary)
    long = encoder(encoder.tokens(["le " * 300 + "chat " * 100], length=2048))
    torch.testing.assert_close(long[0], torch.tensor([0.75, 1.75, 2.75]))


def test_it_is_frozen_until_it_is_let_learn_and_then_the_padding_still_is(vocabulary):
    encoder = vectors.read(vocabulary)
    assert not encoder(encoder.tokens(["le chat"], length=8)).requires_grad
    encoder.requires_grad_(True)
    encoder(encoder.tokens(["le chat"], length=8)).sum().backward()
    moved = encoder.transformer.rows.weight.grad.abs().sum(dim=1)
    assert moved.nonzero().flatten().tolist() == [1, 2]


@pytest.mark.parametrize("cut", range(1, 13))
def test_a_vocabulary_that_ends_early_is_refused(vocabulary, cut):
    path = vocabulary.parent / "key2row"
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(CorruptError, match="key2row"):
        vectors.read(vocabulary)


def test_what_is_no_vocabulary_is_refused(vocabulary):
    for content in (b"\x81\x01\x02\x03\x04", b"\xdf\x00", b""):
        (vocabulary.parent / "key2row").write_bytes(content)
        with pytest.raises(CorruptError, match="not a msgpack map"):
            vectors.read(vocabulary)


def test_it_is_an_encoder_by_name_and_never_the_default_for_texts(monkeypatch):
    record = next(one for one in aw.encoders.known() if one.name == "french")
    assert record.language == "French"
    placed = type(record)(**{**vars(record), "place": "here"})
    monkeypatch.setattr(aw.encoders, "known", lambda: [placed])
    assert aw.encoders.default("texts") == "none"
    english = type(record)(**{**vars(placed), "language": "English"})
    monkeypatch.setattr(aw.encoders, "known", lambda: [english])  # the control
    assert aw.encoders.default("texts") == "french"

"""What is told of texts: their language by a guess, and how many are longer than a window."""

import pytest
from torch import nn

import askwise as aw
from askwise.encoders import TEXTS, Encoder, Record, SentenceEncoder
from askwise.project.texts import language_note, language_of, length_note

SENTENCES = {
    "English": "the order was late and that is not what you have promised for this price",
    "German": "die Lieferung war zu spät und das ist nicht für den Preis",
    "French": "les produits sont bien mais pas pour une semaine et je vous le dis",
    "Spanish": "el pedido llegó tarde pero los productos están muy bien para una casa",
    "Chinese": "我的订单来得太晚了我很生气",
    "Japanese": "ありがとうございますとてもよかったです",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_of_most_texts_is_guessed(language):
    other = SENTENCES["German" if language == "English" else "English"]
    assert language_of([SENTENCES[language]] * 20 + [other] * 5) == language


def test_of_few_words_mixed_texts_and_numbers_nothing_is_said():
    assert language_of(["die Ware"]) is None
    assert language_of([SENTENCES["German"], SENTENCES["English"]] * 20) is None
    assert language_of(["12 34", ""] * 50) is None


@pytest.mark.parametrize(
    ("language", "encoder", "words"),
    [
        ("French", "minilm", "--encoder french knows it, --encoder FOLDER takes"),
        ("German", "minilm", "knows mostly English; --encoder FOLDER takes"),
        ("English", "french", "--encoder minilm knows it, --encoder FOLDER takes"),
        ("English", "minilm", None),
        ("French", "french", None),
        ("French", "mine:encoder", None),
    ],
)
def test_texts_in_another_language_than_the_encoders_are_noted(language, encoder, words):
    pool = aw.pool.text([f"{SENTENCES[language]} {number}" for number in range(30)], encode=len)
    found = language_note(pool, encoder)
    assert len(found) == (words is not None)
    assert all(f"seem to be {language}" in line and words in line for line in found)


class Words:
    """A tokenizer for which every word is one token, with one before and one behind them."""

    before, after, padding = (2,), (3,), 0

    def ids(self, text: str) -> list[int]:
        return [4] * len(text.split())


def told(texts: list[str], *, longest: int) -> list[str]:
    module = SentenceEncoder(nn.Identity(), Words(), window=8)
    encoder = Encoder(Record("tiny", TEXTS, 8, 0, "none", 0, "", None), module, longest)
    return length_note(aw.pool.text(texts, **encoder.reading), encoder)


def test_the_share_of_texts_that_are_longer_than_a_window_is_told():
    texts = [f"short {number}" for number in range(3)] + ["word " * 20]
    [line] = told(texts, longest=2048)
    assert line.startswith("25% of 4 texts looked at have more than the 8 tokens that tiny reads at once")
    assert line.endswith("they are read window by window, and none of them is cut")


def test_the_share_of_texts_that_are_cut_is_told():
    [line] = told(["word " * 20, "word " * 40], longest=30)
    assert line.endswith("and 50% are cut after 30")


def test_of_short_texts_and_without_an_encoder_nothing_is_told():
    assert told(["short"], longest=2048) == []
    assert length_note(aw.pool.arrays([[1.0], [2.0]]), None) == []

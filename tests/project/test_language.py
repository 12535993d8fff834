"""A guess of the language of texts, told where the encoder knows mostly another."""

import pytest

from askwise.project.language import language_of

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

import pytest
import torch

from askwise.errors import InputError
from askwise.nets import tiny_encoder


def test_a_text_is_the_mean_of_its_words():
    encoder = tiny_encoder(vocabulary=10, width=4)
    vectors = encoder.embedding.weight
    found = encoder(torch.tensor([[3, 5, 0, 0], [7, 0, 0, 0]]))
    torch.testing.assert_close(found, torch.stack([(vectors[3] + vectors[5]) / 2, vectors[7]]))


def test_padding_does_not_count_and_neither_does_the_rest_of_the_batch():
    encoder = tiny_encoder(vocabulary=50)
    short, long = encoder.tokens(["one two"], length=4), encoder.tokens(["one two", "three"], length=9)
    torch.testing.assert_close(encoder(short)[0], encoder(long)[0])


def test_a_text_without_words_is_zero():
    encoder = tiny_encoder()
    assert torch.equal(encoder(encoder.tokens([" "])), torch.zeros(1, 32))


def test_words_are_the_same_numbers_always_and_padding_is_none_of_them():
    encoder = tiny_encoder(vocabulary=100)
    first = encoder.tokens(["The cat sat", "the CAT"], length=5)
    assert torch.equal(first, tiny_encoder(vocabulary=100).tokens(["The cat sat", "the CAT"], length=5))
    assert torch.equal(first[0, :2], first[1, :2])
    assert (first[0] == 0).tolist() == [False, False, False, True, True]
    many = encoder.tokens([" ".join(map(str, range(500)))], length=500)
    assert (many.min(), many.max()) == (1, 99)


def test_it_has_one_vector_for_each_token():
    assert sum(p.numel() for p in tiny_encoder(vocabulary=20, width=6).parameters()) == 120


def test_a_single_text_is_refused():
    with pytest.raises(InputError, match="a list of texts, not a single one"):
        tiny_encoder().tokens("one two")


def test_padding_alone_is_no_vocabulary():
    with pytest.raises(InputError, match="vocabulary must be at least 2"):
        tiny_encoder(vocabulary=1)

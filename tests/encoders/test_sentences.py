"""Features of texts: means over tokens, long texts window by window, each text by itself."""

import pytest
import torch
from tiny_bert import write

import askwise as aw
from askwise.encoders import bert, wordpiece
from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import InputError

SHORT, LONG = "the cat sat", "the cat sat ! " * 6  # 5 and 26 tokens


@pytest.fixture
def encoder(tmp_path):
    folder = write(tmp_path / "tiny")
    return SentenceEncoder(bert.read(folder), wordpiece.read(folder), window=8).eval()


def features_of(encoder, words):
    tokens = torch.tensor([[2, *encoder._tokenizer.ids(words), 3]])
    return encoder.transformer(tokens, tokens != 0).mean(dim=1)


def test_a_text_is_the_mean_of_its_tokens_whatever_the_length_of_the_rows(encoder):
    wanted = features_of(encoder, SHORT)
    for length in (5, 8, 9, 40):
        torch.testing.assert_close(encoder(encoder.tokens([SHORT], length=length)), wanted)


def test_a_long_text_is_the_mean_of_its_windows_by_their_tokens(encoder):
    words = LONG.split()
    parts = [" ".join(words[start : start + 6]) for start in range(0, 24, 6)]
    wanted = torch.cat([features_of(encoder, part) for part in parts]).mean(dim=0)
    torch.testing.assert_close(encoder(encoder.tokens([LONG], length=64))[0], wanted)
    parts, tail = ["the cat sat ! the cat"], "sat !"  # 6 tokens and 2
    uneven = (6 * features_of(encoder, parts[0]) + 2 * features_of(encoder, tail)) / 8
    torch.testing.assert_close(encoder(encoder.tokens(["the cat sat ! the cat sat !"], length=64)), uneven)


def test_the_end_of_a_long_text_counts_and_what_is_cut_does_not(encoder):
    changed = LONG + "playing"
    long, cut = (encoder(encoder.tokens([LONG, changed], length=length)) for length in (64, 20))
    assert not torch.allclose(long[0], long[1])
    assert torch.equal(cut[0], cut[1])
    assert encoder.lengths([SHORT, LONG]).tolist() == [5, 26]
    assert encoder.share_cut([SHORT, LONG], length=20) == 0.5
    assert encoder.share_cut([SHORT, LONG], length=26) == 0


def test_the_bits_of_a_text_do_not_depend_on_its_company(encoder):
    texts = [SHORT, LONG, "play", "cat " * 30, "the cat"]
    together = encoder(encoder.tokens(texts, length=64))
    for row, text in zip(together, texts, strict=True):
        assert torch.equal(encoder(encoder.tokens([text], length=64))[0], row)


def test_a_row_of_padding_has_finite_features(encoder):
    found = encoder(torch.zeros(2, 64, dtype=torch.long))
    assert found.shape == (2, encoder.width)
    assert bool(found.isfinite().all())


def test_the_encoder_is_part_of_the_graph_where_texts_fit_into_a_window(encoder):
    from askwise.bayes.program.trace import tensors_of, trace

    trace(encoder, tensors_of(encoder), encoder.tokens([SHORT, "play"], length=6))


def test_a_pool_of_texts_has_the_encoder_s_features_and_keeps_them(tmp_path, encoder):
    record = aw.encoders.Record("tiny", "texts", 8, 8, "MIT", 0, "", None)
    found = aw.encoders.Encoder(record, encoder, longest=40)
    pool = aw.pool.text([SHORT, LONG], **found.reading)
    features = aw.pool.features(pool, encoder, cache=tmp_path / "kept")
    wanted = encoder(encoder.tokens([SHORT, LONG], length=40))
    torch.testing.assert_close(features.read(list(pool.ids)).inputs, wanted)


def test_a_single_text_is_refused(encoder):
    with pytest.raises(InputError, match="a list of texts, not a single one"):
        encoder.tokens("abc")

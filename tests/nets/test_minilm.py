"""The loader of sentence encoders, tried with a transformer of one layer in place of the real library."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from askwise.errors import InputError
from askwise.nets import minilm
from askwise.nets.minilm import SentenceEncoder


class Attention(nn.Module):
    """Every token becomes the mean of the tokens it may look at."""

    config = SimpleNamespace(hidden_size=4)

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)

    def forward(self, *, input_ids, attention_mask):
        values = self.embedding(input_ids)
        scores = attention_mask[:, 0] + torch.zeros(input_ids.shape[1], input_ids.shape[1])
        return SimpleNamespace(last_hidden_state=scores.softmax(dim=-1) @ values)


class Letters:
    """One token for each letter."""

    pad_token_id = 0

    def __call__(self, texts, *, padding, padding_side, truncation, max_length, return_tensors):
        assert (padding, padding_side, truncation, return_tensors) == ("max_length", "right", True, "pt")
        rows = [[1 + ord(letter) % 9 for letter in text][:max_length] for text in texts]
        return {"input_ids": torch.tensor([row + [0] * (max_length - len(row)) for row in rows])}


@pytest.fixture
def library(monkeypatch):
    """A stand-in for `transformers` that remembers what it was asked."""
    asked = {}

    def model(home, **options):
        asked["model"] = (home, options)
        return Attention().train()

    def tokenizer(home, **options):
        asked["tokenizer"] = (home, options)
        return Letters()

    stand_in = SimpleNamespace(
        AutoModel=SimpleNamespace(from_pretrained=model),
        AutoTokenizer=SimpleNamespace(from_pretrained=tokenizer),
    )
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    return asked


def folder(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def test_a_text_is_the_mean_of_its_tokens_and_padding_is_not_seen():
    encoder = SentenceEncoder(Attention(), Letters())
    tokens = encoder.tokens(["abc", "b"], length=6)
    assert tokens.shape == (2, 6)
    expected = torch.stack([encoder.transformer.embedding(row[row != 0]).mean(dim=0) for row in tokens])
    torch.testing.assert_close(encoder(tokens), expected)


def test_the_length_of_the_rows_does_not_change_a_text():
    encoder = SentenceEncoder(Attention(), Letters())
    torch.testing.assert_close(
        encoder(encoder.tokens(["abc"], length=3)), encoder(encoder.tokens(["abc", "x"], length=9))[:1]
    )


def test_the_encoder_is_part_of_the_graph():
    from askwise.bayes.program.trace import tensors_of, trace

    encoder = SentenceEncoder(Attention(), Letters()).eval()
    trace(encoder, tensors_of(encoder), encoder.tokens(["abc", "x"], length=4))


def test_a_folder_is_loaded_without_network_code_or_pickle(tmp_path, library):
    encoder = minilm.load(folder(tmp_path))
    assert not encoder.training
    assert not encoder.transformer.training
    assert encoder.width == 4
    home, options = library["model"]
    assert home == tmp_path
    assert options == {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True}
    assert library["tokenizer"][1]["local_files_only"]


def test_a_folder_that_the_library_cannot_read_is_named(tmp_path, library, monkeypatch):
    def broken(home, **options):
        raise OSError("no file named model.safetensors\nand much more")

    monkeypatch.setattr(sys.modules["transformers"].AutoModel, "from_pretrained", broken)
    with pytest.raises(InputError, match=r"can read: no file named model\.safetensors$"):
        minilm.load(folder(tmp_path))


def test_a_folder_without_an_encoder_says_how_to_get_one(tmp_path):
    with pytest.raises(InputError, match=r"no config\.json\); get one with: askwise data fetch minilm"):
        minilm.load(tmp_path)


def test_without_the_extra_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"pip install 'askwise\[text\]'"):
        minilm.load(folder(tmp_path))


def test_a_single_text_is_refused():
    with pytest.raises(InputError, match="a list of texts, not a single one"):
        SentenceEncoder(Attention(), Letters()).tokens("abc")

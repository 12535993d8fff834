"""BERT by our own network equals the formulas, written out for one text."""

import json
import math

import pytest
import torch
from tiny_bert import CONFIG, weights, write
from torch.nn import functional as F

from askwise.encoders import bert
from askwise.errors import CorruptError, InputError


def by_hand(tokens):
    """The vectors of one text [length], head by head and token by token."""
    w, width = weights(), CONFIG["hidden_size"]
    size = width // CONFIG["num_attention_heads"]

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def normal(x, name):
        return F.layer_norm(x, (width,), w[f"{name}.weight"], w[f"{name}.bias"], eps=1e-5)

    x = w["embeddings.word_embeddings.weight"][tokens]
    x = x + w["embeddings.position_embeddings.weight"][: len(tokens)]
    x = normal(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(CONFIG["num_hidden_layers"]):
        at = f"encoder.layer.{number}"
        query, key, value = (dense(x, f"{at}.attention.self.{part}") for part in ("query", "key", "value"))
        seen = torch.empty_like(x)
        for head in range(CONFIG["num_attention_heads"]):
            part = slice(head * size, (head + 1) * size)
            for token in range(len(tokens)):
                share = (key[:, part] @ query[token, part] / math.sqrt(size)).softmax(dim=0)
                seen[token, part] = share @ value[:, part]
        x = normal(x + dense(seen, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        up = F.gelu(dense(x, f"{at}.intermediate.dense"))
        x = normal(x + dense(up, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return x


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_the_network_equals_the_formulas_and_does_not_see_padding(tmp_path, prefix):
    network = bert.read(write(tmp_path, prefix=prefix))
    tokens = torch.tensor([[2, 4, 8, 9, 3, 0, 0], [2, 5, 6, 3, 0, 0, 0]])
    found = network(tokens, tokens != 0)
    for row, length in ((0, 5), (1, 4)):
        torch.testing.assert_close(found[row, :length], by_hand(tokens[row, :length]), rtol=1e-4, atol=1e-5)
    seen = network(tokens, torch.ones_like(tokens, dtype=torch.bool))
    assert not torch.allclose(seen[0, :5], by_hand(tokens[0, :5]), rtol=1e-4, atol=1e-5)


def test_a_folder_that_is_not_what_it_says_is_refused_in_one_line(tmp_path):
    with pytest.raises(CorruptError, match=r"does not hold the weights that config\.json describes"):
        bert.read(write(tmp_path / "a", num_hidden_layers=3))
    with pytest.raises(CorruptError, match="does not hold the weights"):
        bert.read(write(tmp_path / "b", hidden_size=12))
    with pytest.raises(InputError, match="activation 'relu'"):
        bert.read(write(tmp_path / "c", hidden_act="relu"))
    folder = write(tmp_path / "d")
    (folder / "model.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(CorruptError, match="does not hold the weights"):
        bert.read(folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04pickle")
    with pytest.raises(InputError, match=r"has no model\.safetensors"):
        bert.read(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(InputError, match="does not describe a BERT: 'vocab_size'"):
        bert.read(folder)

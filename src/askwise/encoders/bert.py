"""BERT (Devlin et al. 2019) as an encoder: tokens to one vector each; MiniLM has this shape."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from askwise.errors import CorruptError, InputError


@dataclass(frozen=True)
class Shape:
    """The sizes that a folder's config.json tells."""

    vocabulary: int
    positions: int
    width: int
    inner: int
    layers: int
    heads: int
    epsilon: float


class Layer(nn.Module):
    """Attention, then two dense layers; each is added to what came in, and normalised."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.mixed = (nn.Linear(shape.width, shape.width) for _ in range(4))
        self.up, self.down = nn.Linear(shape.width, shape.inner), nn.Linear(shape.inner, shape.width)
        self.after_attention = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.after_dense = nn.LayerNorm(shape.width, eps=shape.epsilon)

    def forward(
        self, found: Float[Tensor, "N length D"], hidden: Float[Tensor, "N 1 1 length"]
    ) -> Float[Tensor, "N length D"]:
        """The vectors of the next layer."""
        query, key, value = (
            part(found).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # as wide as the scores: what is broadcast inside would be a decision on values
        mask = hidden.expand(-1, 1, found.shape[1], -1)
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        found = self.after_attention(found + self.mixed(seen.transpose(1, 2).flatten(2)))
        dense: Tensor = self.after_dense(found + self.down(F.gelu(self.up(found))))
        return dense


class Bert(nn.Module):
    """Embeddings of words and places, then layers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.places = nn.Embedding(shape.positions, shape.width)
        self.sentence = nn.Parameter(torch.empty(shape.width))
        self.normal = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    @property
    def width(self) -> int:
        """How many features a token gets."""
        return self.shape.width

    def forward(
        self, tokens: Int64[Tensor, "N length"], there: Bool[Tensor, "N length"]
    ) -> Float[Tensor, "N length D"]:
        """One vector for each token; those that are not there are not looked at."""
        found: Tensor = self.normal(
            self.words(tokens) + self.places.weight[: tokens.shape[1]] + self.sentence
        )
        hidden = (~there).to(found.dtype)[:, None, None, :] * torch.finfo(found.dtype).min
        for layer in self.layers:
            found = layer(found, hidden)
        return found


def read(folder: Path) -> Bert:
    """The network in a folder of Hugging Face, frozen; weights come from `model.safetensors` alone."""
    shape = _shape(folder)
    path = folder / "model.safetensors"
    if not path.is_file():
        raise InputError(f"{folder} has no model.safetensors; save the model with safe_serialization=True")
    with torch.device("meta"):
        made = Bert(shape)
    try:
        published = load_file(path)
        prefix = "bert." if any(name.startswith("bert.") for name in published) else ""
        here = {ours: published[prefix + theirs].float() for ours, theirs in _names(shape.layers).items()}
        here["sentence"] = here["sentence"][0]  # one sentence a text: its kind is always the first
        made.load_state_dict(here, assign=True)
    except (SafetensorError, KeyError, RuntimeError, OSError) as reason:
        line = str(reason).partition("\n")[0]
        raise CorruptError(f"{path} does not hold the weights that config.json describes: {line}") from reason
    return made.requires_grad_(False).eval()


def _shape(folder: Path) -> Shape:
    try:
        options: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        if (act := options.get("hidden_act", "gelu")) != "gelu":
            raise InputError(f"{folder} has the activation {act!r}; its own network here has gelu")
        return Shape(
            vocabulary=int(options["vocab_size"]),
            positions=int(options["max_position_embeddings"]),
            width=int(options["hidden_size"]),
            inner=int(options["intermediate_size"]),
            layers=int(options["num_hidden_layers"]),
            heads=int(options["num_attention_heads"]),
            epsilon=float(options.get("layer_norm_eps", 1e-12)),
        )
    except (KeyError, TypeError, AttributeError) as reason:
        raise InputError(f"{folder / 'config.json'} does not describe a BERT: {reason}") from reason


def _names(layers: int) -> dict[str, str]:
    """Our names of the tensors, and those in the file."""
    found = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "sentence": "embeddings.token_type_embeddings.weight",
    }
    pairs = {"normal": "embeddings.LayerNorm"}
    for number in range(layers):
        there = f"encoder.layer.{number}"
        pairs |= {
            f"layers.{number}.{ours}": f"{there}.{theirs}"
            for ours, theirs in (
                ("query", "attention.self.query"),
                ("key", "attention.self.key"),
                ("value", "attention.self.value"),
                ("mixed", "attention.output.dense"),
                ("after_attention", "attention.output.LayerNorm"),
                ("up", "intermediate.dense"),
                ("down", "output.dense"),
                ("after_dense", "output.LayerNorm"),
            )
        }
    for ours, theirs in pairs.items():
        found |= {f"{ours}.{part}": f"{theirs}.{part}" for part in ("weight", "bias")}
    return found

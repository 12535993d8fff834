"""Sentence encoders in the folders of `transformers`, such as MiniLM; needs the extra [text]."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.errors import InputError, positive
from askwise.nets.pooling import masked_mean


class SentenceEncoder(nn.Module):
    """A transformer whose token vectors are averaged to one vector for each text."""

    def __init__(self, transformer: nn.Module, tokenizer: Any) -> None:
        super().__init__()
        self.transformer = transformer
        self._tokenizer = tokenizer

    @property
    def padding(self) -> int:
        """The token that fills the rows."""
        return int(self._tokenizer.pad_token_id)

    @property
    def width(self) -> int:
        """How many features a text gets."""
        return int(self.transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]

    def forward(self, tokens: Int64[Tensor, "N length"]) -> Float[Tensor, "N D"]:
        """One row for each text."""
        there = tokens != self.padding
        found = self.transformer(input_ids=tokens, attention_mask=_visible(there))
        return masked_mean(found.last_hidden_state, there)

    def tokens(self, texts: Sequence[str], *, length: int = 64) -> Int64[Tensor, "N length"]:
        """The token ids of every text, cut or padded to `length`, so that rows do not depend on the rest."""
        if isinstance(texts, str):
            raise InputError("texts must be a list of texts, not a single one")
        found = self._tokenizer(
            list(texts),
            padding="max_length",
            padding_side="right",
            truncation=True,
            max_length=positive("length", length),
            return_tensors="pt",
        )
        ids: Tensor = found["input_ids"]
        return ids


def _visible(there: Bool[Tensor, "N length"]) -> Float[Tensor, "N 1 length length"]:
    """What every token may look at, as numbers to add to the attention.

    Of a mask [N, length] transformers would ask whether it is needed at all: a decision on values,
    which no graph describes, and the encoder would run once for every draw.
    """
    hidden = (~there).float() * torch.finfo(torch.float32).min
    return hidden[:, None, None, :].expand(-1, 1, there.shape[1], -1)


def load(folder: str | Path) -> SentenceEncoder:
    """The encoder in a folder, in eval mode; get one with `askwise data fetch minilm`.

    Nothing is downloaded, and code that a folder may hold is not run.
    """
    home = Path(folder)
    if not (home / "config.json").is_file():
        raise InputError(f"{home} holds no encoder (no config.json); get one with: askwise data fetch minilm")
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as reason:
        raise InputError(
            "sentence encoders need the extra [text]; install it with: pip install 'askwise[text]'"
        ) from reason
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(home, **options)
        transformer = AutoModel.from_pretrained(home, use_safetensors=True, **options)
    except (OSError, ValueError, KeyError) as reason:
        first = str(reason).strip().splitlines()[0]
        raise InputError(f"{home} holds no encoder that transformers can read: {first}") from reason
    return SentenceEncoder(transformer, tokenizer).eval()

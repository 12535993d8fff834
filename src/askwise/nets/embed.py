"""Turns texts into features once, where the encoder does not learn."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.errors import positive


@runtime_checkable
class TextEncoder(Protocol):
    """A module with tokens of its own: `tiny_encoder()`, or that of `aw.encoders.load("minilm")`."""

    training: bool

    @property
    def padding(self) -> int:
        """The token that fills the rows."""
        ...

    def tokens(self, texts: Sequence[str], *, length: int) -> Int64[Tensor, "N length"]:
        """The token ids of every text, filled up on the right."""
        ...

    def train(self, mode: bool = True) -> object:
        """The encoder in train or eval mode."""
        ...

    def __call__(self, tokens: Tensor) -> Tensor:
        """One row for each text."""
        ...


def embed(
    encoder: TextEncoder, texts: Sequence[str], *, length: int = 64, batch: int = 32
) -> Float[Tensor, "N D"]:
    """The features of every text, for a head to learn from as from any other table.

    Short texts are read together and without most of their padding, which is several times faster
    than the encoder inside of the network.

    >>> aw.nets.embed(aw.nets.tiny_encoder(width=16), ["a good film", "a bad one"]).shape
    torch.Size([2, 16])
    """
    tokens = encoder.tokens(texts, length=length)
    lengths = (tokens != encoder.padding).sum(dim=1).clamp(min=1)
    mode = encoder.training
    found: list[Tensor] = []
    order = lengths.argsort(stable=True)
    try:
        encoder.train(False)
        with torch.no_grad():
            for rows in torch.split(order, positive("batch", batch)):
                found.append(encoder(tokens[rows, : int(lengths[rows].max())]))
    finally:
        encoder.train(mode)
    return torch.cat(found)[order.argsort()]

"""Networks on texts: a head that learns, and a tiny encoder for tests and demonstrations."""

from collections import OrderedDict
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from askwise.errors import InputError, positive
from askwise.nets.parts import masked_mean, rate
from askwise.nets.recipe import recorded
from askwise.seeding import hashes


@recorded
def text_head(
    *, features: int = 384, classes: int = 2, hidden: int = 256, dropout: float = 0.5
) -> nn.Sequential:
    """Two dense layers with dropout between them; features [N, features] to logits [N, classes].

    >>> aw.nets.text_head(classes=6)(torch.rand(2, 384)).shape
    torch.Size([2, 6])
    """
    return nn.Sequential(
        OrderedDict(
            dense1=nn.Linear(positive("features", features), positive("hidden", hidden)),
            relu1=nn.ReLU(),
            dropout1=nn.Dropout(rate(dropout)),
            dense2=nn.Linear(hidden, positive("classes", classes)),
        )
    )


class TinyEncoder(nn.Module):
    """The mean of one vector for each word, whatever their order."""

    padding = 0

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=self.padding)

    def forward(self, tokens: Int64[Tensor, "N length"]) -> Float[Tensor, "N D"]:
        """One row for each text."""
        return masked_mean(self.embedding(tokens), tokens != self.padding)

    def tokens(self, texts: Sequence[str], *, length: int = 32) -> Int64[Tensor, "N length"]:
        """A number for each of the first `length` words, by a hash, and 0 where there are fewer."""
        if isinstance(texts, str):
            raise InputError("texts must be a list of texts, not a single one")
        found = torch.full((len(texts), positive("length", length)), self.padding, dtype=torch.long)
        for row, text in zip(found, texts, strict=True):
            words = text.lower().split()[:length]
            row[: len(words)] = 1 + hashes(0, words) % (self.embedding.num_embeddings - 1)
        return found


@recorded
def tiny_encoder(*, vocabulary: int = 1000, width: int = 32) -> TinyEncoder:
    """Token ids [N, length] to the mean of their vectors [N, width]; token 0 is padding.

    >>> aw.nets.tiny_encoder(width=16)(torch.randint(0, 1000, (2, 5))).shape
    torch.Size([2, 16])
    """
    if positive("vocabulary", vocabulary) < 2:
        raise InputError("vocabulary must be at least 2: one token is padding")
    return TinyEncoder(vocabulary, positive("width", width))

"""Texts to features: the mean of the vectors of their tokens, long ones window by window."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.errors import InputError, positive


class Tokenizer(Protocol):
    """Texts to numbers."""

    padding: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    def ids(self, text: str) -> list[int]:
        """The numbers of a text, without those that open and close it."""
        ...


class SentenceEncoder(nn.Module):
    """A transformer, or a table of words, whose token vectors are averaged to one vector for each text."""

    def __init__(self, transformer: nn.Module, tokenizer: Any, *, window: int) -> None:
        super().__init__()
        self.transformer = transformer
        self.window = window
        self._tokenizer: Tokenizer = tokenizer

    @property
    def padding(self) -> int:
        """The token that fills the rows."""
        return self._tokenizer.padding

    @property
    def width(self) -> int:
        """How many features a text gets."""
        return int(self.transformer.width)  # type: ignore[arg-type]

    def forward(self, tokens: Int64[Tensor, "N length"]) -> Float[Tensor, "N D"]:
        """One row for each text.

        Rows that fit into one window are one pass. Longer ones are read one by one and without their
        padding: texts differ in length, and so the bits of one depend on no other.
        """
        if tokens.shape[1] <= self.window:
            return self._mean(tokens, tokens != self.padding)
        return torch.cat([self._long(row) for row in tokens])

    def tokens(self, texts: Sequence[str], *, length: int = 64) -> Int64[Tensor, "N length"]:
        """The token ids of every text, cut or padded to `length`, so that rows do not depend on the rest."""
        positive("length", length)
        found = torch.full((len(texts), length), self.padding, dtype=torch.long)
        for row, ids in zip(found, self._ids(texts), strict=True):
            room = max(0, length - len(self._tokenizer.before) - len(self._tokenizer.after))
            whole = [*self._tokenizer.before, *ids[:room], *self._tokenizer.after][:length]
            row[: len(whole)] = torch.tensor(whole)
        return found

    def lengths(self, texts: Sequence[str]) -> Int64[Tensor, " N"]:
        """How many tokens each text has: those with more than `length` are cut by `tokens`."""
        around = len(self._tokenizer.before) + len(self._tokenizer.after)
        return torch.tensor([len(ids) + around for ids in self._ids(texts)], dtype=torch.long)

    def share_cut(self, texts: Sequence[str], *, length: int) -> float:
        """The share of the texts that have more than `length` tokens."""
        return float((self.lengths(texts) > length).double().mean()) if len(texts) else 0.0

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if isinstance(texts, str):
            raise InputError("texts must be a list of texts, not a single one")
        return [self._tokenizer.ids(text) for text in texts]

    def _mean(self, tokens: Int64[Tensor, "N L"], there: Bool[Tensor, "N L"]) -> Float[Tensor, "N D"]:
        weight = there.unsqueeze(-1).float()
        found: Tensor = self.transformer(tokens, there)
        return (found * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1)

    def _long(self, row: Int64[Tensor, " length"]) -> Float[Tensor, "1 D"]:
        """The features of one text: the mean over its windows, each counted by its tokens."""
        count = int((row != self.padding).sum())
        if count <= self.window:
            whole = row[: max(1, count)][None]
            return self._mean(whole, whole != self.padding)
        before, after = self._tokenizer.before, self._tokenizer.after
        inside = row[len(before) : count - len(after)]
        parts = torch.split(inside, self.window - len(before) - len(after))
        weights = torch.tensor([float(len(part)) for part in parts])
        opened = [torch.cat([row.new_tensor(before), part, row.new_tensor(after)])[None] for part in parts]
        rows = torch.cat([self._mean(part, part != self.padding) for part in opened])
        return (weights.to(rows) @ rows / weights.sum())[None]

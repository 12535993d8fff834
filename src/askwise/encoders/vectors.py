"""Texts by the vectors of their words: a table and which word has which row, as spaCy keeps them."""

import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import CorruptError

_WORD = re.compile(r"\w+['’]?|[^\w\s]")  # an elision is a word of its own: l'amour is l' and amour
_WINDOW = 256  # words that are read at once
_MULTIPLIER, _SHIFT, _SEED, _MASK = 0xC6A4A7935BD1E995, 47, 1, 2**64 - 1


class WordVectors(nn.Module):
    """A vector for each word, whatever stands around it; words without one are zeros."""

    def __init__(self, table: Float[Tensor, "rows D"]) -> None:
        super().__init__()
        self.width = table.shape[1]
        rows = torch.cat([torch.zeros(1, self.width), table])
        self.rows = nn.Embedding(len(rows), self.width, padding_idx=0, _weight=rows)

    def forward(self, tokens: Int64[Tensor, "N L"], _there: Bool[Tensor, "N L"]) -> Float[Tensor, "N L D"]:
        """One row for each word."""
        found: Tensor = self.rows(tokens)
        return found


class Words:
    """Words to rows of the table, counted from 1; words without a vector are left out."""

    padding = 0
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    def __init__(self, rows: dict[int, int]) -> None:
        self._rows = rows

    def ids(self, text: str) -> list[int]:
        """The row of each word that has one, as it is written or in small letters."""
        found = (self._row(word.replace("’", "'")) for word in _WORD.findall(text))
        return [row + 1 for row in found if row is not None]

    def _row(self, word: str) -> int | None:
        as_written = self._rows.get(key(word))
        return self._rows.get(key(word.lower())) if as_written is None else as_written


def read(table: Path) -> SentenceEncoder:
    """The mean of the word vectors of a vocabulary folder, whose file `vectors` is given; frozen."""
    vectors = torch.from_numpy(np.load(table, allow_pickle=False))
    rows = dict(_pairs((table.parent / "key2row").read_bytes()))
    made = SentenceEncoder(WordVectors(vectors), Words(rows), window=_WINDOW)
    return made.requires_grad_(False).eval()


@lru_cache(maxsize=100_000)
def key(word: str) -> int:
    """The number by which a vocabulary knows a word: MurmurHash64A of its UTF-8 bytes."""
    data = word.encode()
    mixed = (_SEED ^ len(data) * _MULTIPLIER) & _MASK
    whole = len(data) // 8 * 8
    for (part,) in struct.iter_unpack("<Q", data[:whole]):
        one = part * _MULTIPLIER & _MASK
        one = (one ^ one >> _SHIFT) * _MULTIPLIER & _MASK
        mixed = (mixed ^ one) * _MULTIPLIER & _MASK
    if whole < len(data):
        mixed = (mixed ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    mixed = (mixed ^ mixed >> _SHIFT) * _MULTIPLIER & _MASK
    return mixed ^ mixed >> _SHIFT


def _pairs(packed: bytes) -> Iterator[tuple[int, int]]:
    """The keys and values of a msgpack map of whole numbers."""
    kind, count = struct.unpack_from(">BI", packed)
    if kind != 0xDF:
        raise CorruptError("key2row is not a msgpack map of words")
    at = 5
    for _ in range(count):
        word, at = _number(packed, at)
        row, at = _number(packed, at)
        yield word, row


def _number(packed: bytes, at: int) -> tuple[int, int]:
    """The whole number that begins at a place, and the place after it."""
    kind = packed[at]
    if kind < 0x80:
        return kind, at + 1
    size = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}.get(kind)
    if size is None or at + 1 + size > len(packed):
        raise CorruptError(f"key2row has no whole number at byte {at}")
    return int.from_bytes(packed[at + 1 : at + 1 + size], "big"), at + 1 + size

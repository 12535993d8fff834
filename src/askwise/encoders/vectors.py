"""Texts by the vectors of their words: a table and which word has which row, as spaCy keeps them."""

import re
import struct
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from askwise.encoders.sentences import SentenceEncoder
from askwise.errors import CorruptError

_WHOLE = re.compile(r"\w+(?:['-]\w+)*'?|\.\.\.|[^\w\s]")
_PART = re.compile(r"\w+'?|[^\w\s]")  # an elision is a part of its own: l'amour is l' and amour
WINDOW = 256  # words that are read at once
_HEAD = 5  # bytes of a map before its first key
_SIZES = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}  # bytes of a number, by how it is marked
_MULTIPLIER, _SHIFT, _SEED, _MASK = 0xC6A4A7935BD1E995, 47, 1, 2**64 - 1
# Words that are also names in spaCy's grammar are known by the numbers of those (spacy/symbols.pxd).
_NAMES = {
    **{"agent": 401, "appos": 403, "aux": 405, "cc": 407, "conj": 410, "cop": 411, "dep": 414, "det": 415},
    **{"expl": 417, "mark": 423, "meta": 424, "neg": 425, "nn": 427, "num": 431, "number": 432, "obj": 434},
    **{"obl": 435, "poss": 440, "possessive": 441, "prep": 443, "prt": 444, "root": 449, "acl": 451},
}


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
        """The rows of its words (peut-être is one, l'amour two), as written or else in small letters."""
        found: list[int | None] = []
        for word in _WHOLE.findall(unicodedata.normalize("NFC", text).replace("’", "'")):
            row = self._row(word)
            found += [row] if row is not None else [self._row(part) for part in _PART.findall(word)]
        return [row + 1 for row in found if row is not None]

    def _row(self, word: str) -> int | None:
        bare = word.rstrip("'")
        keys = map(key, (word, word.lower(), bare, bare.lower()))
        return next((self._rows[one] for one in keys if one in self._rows), None)


def read(table: Path) -> SentenceEncoder:
    """The mean of the word vectors of a vocabulary folder, whose file `vectors` is given; frozen."""
    vectors = torch.from_numpy(np.load(table, allow_pickle=False))
    rows = dict(_pairs((table.parent / "key2row").read_bytes()))
    made = SentenceEncoder(WordVectors(vectors), Words(rows), window=WINDOW)
    return made.requires_grad_(False).eval()


@lru_cache(maxsize=100_000)
def key(word: str) -> int:
    """The number by which a vocabulary knows a word: MurmurHash64A of its UTF-8 bytes, mostly."""
    if word in _NAMES:
        return _NAMES[word]
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
    if packed[:1] != b"\xdf" or len(packed) < _HEAD:
        raise CorruptError("key2row is not a msgpack map of words")
    (count,), at = struct.unpack_from(">I", packed, 1), _HEAD
    for _ in range(count):
        word, at = _number(packed, at)
        row, at = _number(packed, at)
        yield word, row


def _number(packed: bytes, at: int) -> tuple[int, int]:
    """The whole number that begins at a place, and the place after it."""
    kind = packed[at] if at < len(packed) else None
    if kind is not None and kind < 0x80:
        return kind, at + 1
    size = None if kind is None else _SIZES.get(kind)
    if size is None or at + 1 + size > len(packed):
        raise CorruptError(f"key2row has no whole number at byte {at}")
    return int.from_bytes(packed[at + 1 : at + 1 + size], "big"), at + 1 + size

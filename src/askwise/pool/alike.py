"""How alike two items are: fingerprints of pictures and of texts, nearly equal for copies."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from zlib import crc32

import numpy as np
from jaxtyping import Float, UInt64

SIDE = 64
"""Pixels at each side of the grey picture that a fingerprint is made of."""
_WAVES = 16  # the slowest, in each direction: 256 bits
_HASHES, _BAND = 64, 4
_SHINGLE = 5  # letters


def picture_print(grey: Float[np.ndarray, "64 64"]) -> UInt64[np.ndarray, " 4"]:
    """256 bits; a copy that was saved again, made smaller or brighter shares most of them.

    Each says whether one of the slowest waves of the picture (a cosine transform) is stronger than half
    of them.
    """
    waves = _cosines() @ (grey - grey.mean()) @ _cosines().T
    strengths = waves.ravel()[1:]  # the first is the brightness, which is taken out
    bits = np.append(strengths > np.median(strengths), False)
    return np.packbits(bits).view(np.uint64)


def distances(one: UInt64[np.ndarray, " 4"], others: UInt64[np.ndarray, "N 4"]) -> np.ndarray:
    """In how many bits a fingerprint differs from each of the others."""
    found: np.ndarray = np.bitwise_count(one ^ others).sum(axis=1, dtype=np.int64)
    return found


def shingles(text: str) -> frozenset[int]:
    """The pieces of five letters of a text, as numbers; case, accents' form and blanks do not count."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    content = [plain[start : start + _SHINGLE] for start in range(max(1, len(plain) - _SHINGLE + 1))]
    return frozenset(crc32(piece.encode("utf-8", "surrogatepass")) for piece in content)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """The share of the pieces that two texts have in common."""
    return len(one & other) / max(1, len(one | other))


def text_bands(pieces: frozenset[int]) -> Iterator[bytes]:
    """16 keys of a text: two that share four fifths of their pieces have one in common almost surely.

    A key is four of the least of the pieces' numbers, under 64 ways to shuffle them (Broder 1997).
    """
    factors, offsets = _shuffles()
    numbers = np.fromiter(pieces, np.uint64, len(pieces))
    least = (numbers[:, None] * factors + offsets >> np.uint64(32)).min(axis=0).astype(np.uint32)
    for start in range(0, _HASHES, _BAND):
        yield bytes([start]) + least[start : start + _BAND].tobytes()


@cache
def _shuffles() -> Sequence[UInt64[np.ndarray, " 64"]]:
    rng = np.random.Generator(np.random.PCG64(0))
    factors = rng.integers(2**63, size=_HASHES, dtype=np.uint64) | np.uint64(1)
    return factors, rng.integers(2**63, size=_HASHES, dtype=np.uint64)


@cache
def _cosines() -> Float[np.ndarray, "16 64"]:
    places = (np.arange(SIDE) + 0.5) / SIDE
    found: np.ndarray = np.cos(np.pi * np.arange(_WAVES)[:, None] * places)
    return found

"""What an encoder is: what it takes, what it gives, where it comes from."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from askwise.errors import InputError

PICTURES, TEXTS, ROWS = "pictures", "texts", "rows"
ENGLISH = "English"


@dataclass(frozen=True)
class Record:
    """What is known of an encoder before it is loaded: its name, size, licence and speed."""

    name: str
    takes: str
    """PICTURES, TEXTS or ROWS, which are arrays of one shape."""
    size: int
    """Pixels at each side of a picture, or tokens in a window of text; 0 for rows."""
    width: int
    """Features of an item; 0 where only the module itself can tell."""
    licence: str
    bytes: int
    """What its files weigh."""
    install: str
    """The command that brings it."""
    place: Path | None
    """Where it was found; None where it is not installed."""
    language: str | None = None
    """Of the texts that it knows best; None where it takes something else."""

    def line(self) -> str:
        """The record as one line for a person."""
        weight = f", {self.bytes / 1e6:.0f} MB" if self.bytes else ""
        features = f", {self.width} features" if self.width else ""
        takes = self.takes if self.language in (None, ENGLISH) else f"{self.language} {self.takes}"
        return f"{self.name}: {takes}{features}{weight}, licence {self.licence}"


@dataclass(frozen=True)
class Encoder:
    """A frozen module from items to features [N, D], and what is known of it.

    `aw.pool.features(aw.pool.images(folder, **encoder.reading), encoder.module, cache=...)` are its
    features. An item's row depends on the item alone, so they can be computed in any order, by several
    processes, and again after a stop: what the cache holds is not computed twice.
    """

    record: Record
    module: nn.Module
    longest: int = 2048
    """Tokens of a text that are read; the rest is cut."""

    @property
    def reading(self) -> dict[str, Any]:
        """How a pool has to read items for it: options of `aw.pool.images` or `aw.pool.text`."""
        if self.record.takes == PICTURES:
            return {"size": self.record.size, "channels": 3}
        if self.record.takes == TEXTS:
            tokens: Any = self.module.tokens
            return {"encode": partial(tokens, length=self.longest)}
        return {}


_TEXT = "A sentence of twenty words, as people write it who ask for something that they would like to know."
_ITEMS = 8


def items_per_second(encoder: Encoder, *, seconds: float = 1.0) -> float:
    """Items in a second with the threads torch has now.

    >>> aw.encoders.items_per_second(aw.encoders.load("lite0"), seconds=0.01) > 0
    True
    """
    items = _items(encoder)
    with torch.no_grad():
        encoder.module(items)  # the first pass also sets things up
        passes, start = 0, perf_counter()
        while (passed := perf_counter() - start) < seconds or not passes:
            encoder.module(items)
            passes += 1
    return passes * len(items) / passed


def _items(encoder: Encoder) -> Tensor:
    record = encoder.record
    if record.takes == PICTURES:
        pictures = torch.linspace(0, 1, _ITEMS * 3 * record.size**2)
        return pictures.reshape(_ITEMS, 3, record.size, record.size)
    if record.takes == TEXTS:
        tokens: Tensor = encoder.reading["encode"]([_TEXT] * _ITEMS)
        return tokens
    raise InputError(f"{record.name} takes arrays whose shape only you know; its speed cannot be measured")

"""How fast an encoder is on this machine."""

from time import perf_counter

import torch
from torch import Tensor

from askwise.encoders.record import PICTURES, TEXTS, Encoder
from askwise.errors import InputError

_TEXT = "A sentence of twenty words, as people write it who ask for something that they would like to know."
_ITEMS = 8


def items_per_second(encoder: Encoder, *, seconds: float = 1.0) -> float:
    """Items in a second with the threads torch has now."""
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

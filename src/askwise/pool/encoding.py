"""What a frozen encoder makes of items: one row of features each."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn

from askwise.errors import InputError

BATCH = 32
"""Items in one pass, always: so outputs are bitwise independent of the rest of the batch."""


def encode(encoder: nn.Module, inputs: Any, *, ranks: Sequence[int] | None = None) -> Float32[Tensor, "N D"]:
    """The features of every item [N, ...] of a tensor or array; the encoder is left as it is.

    It runs where its weights are, in eval mode. An item of rank r, its position unless given, always
    has place r modulo BATCH in a pass: a product of matrices may round a row by where it stands.
    """
    if not len(inputs):
        raise InputError(f"inputs must hold at least one item [N, ...]; their shape is {list(inputs.shape)}")
    parts, order = [], []
    with _predicting(encoder):
        for items, places in _passes(range(len(inputs)) if ranks is None else ranks):
            some = inputs[items[0] : items[-1] + 1] if ranks is None else inputs[items]
            batch = some if isinstance(some, Tensor) else torch.from_numpy(np.array(some))
            full = batch[:1].repeat(BATCH, *[1] * (batch.ndim - 1))
            full[places] = batch
            parts.append(_rows(encoder, full)[places])
            order += items
    found = torch.cat(parts)
    return found if ranks is None else found[torch.tensor(order).argsort()]


def alone(encoder: nn.Module, inputs: Tensor) -> Float32[Tensor, "N D"]:
    """The features of items in a pass of their own: cheaper for one, and not the same to the last bit."""
    with _predicting(encoder):
        return _rows(encoder, inputs)


def feature_width(encoder: Any, like: Tensor) -> int:
    """How many features an item gets; an encoder that gives none, or still learns, is refused."""
    if not isinstance(encoder, nn.Module):
        raise InputError(f"an encoder is a torch module, not a {type(encoder).__name__}")
    learns = next((name for name, p in encoder.named_parameters() if p.requires_grad), None)
    if learns is not None:
        raise InputError(
            f"the encoder still learns ({learns}), so its features would not last; "
            "freeze it: encoder.requires_grad_(False)"
        )
    with _predicting(encoder):
        return _rows(encoder, torch.zeros_like(like)[None]).shape[1]


def _passes(ranks: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Items that can share a pass, none of which has the place of another, and their places."""
    places = np.asarray(ranks) % BATCH
    by_place = places.argsort(kind="stable")
    counts = np.bincount(places, minlength=BATCH)
    turns = np.empty(len(places), np.int64)  # how many before it have its place
    turns[by_place] = np.arange(len(places)) - (counts.cumsum() - counts)[places[by_place]]
    by_turn = turns.argsort(kind="stable")
    for items in np.split(by_turn, np.bincount(turns).cumsum()[:-1]):
        yield items.tolist(), places[items].tolist()


def _rows(encoder: nn.Module, items: Tensor) -> Float32[Tensor, "N D"]:
    """The features of a batch."""
    if items.ndim == 4 and items.is_floating_point():  # pictures: faster with the channels last
        items = items.contiguous(memory_format=torch.channels_last)
    try:
        found = encoder(items.to(_device(encoder)))
    except (RuntimeError, IndexError) as error:
        raise InputError(
            f"the encoder cannot take items of shape {tuple(items.shape[1:])}: {str(error).splitlines()[0]}"
        ) from error
    if not isinstance(found, Tensor):
        raise InputError(f"an encoder gives features [N, D], not a {type(found).__name__}")
    if found.ndim != 2 or len(found) != len(items) or not found.is_floating_point():
        dtype = str(found.dtype).removeprefix("torch.")
        raise InputError(
            f"an encoder gives features [N, D]; this one gave {dtype} of shape {list(found.shape)} "
            f"for {len(items)} items"
        )
    return found.to("cpu", torch.float32)


def _device(encoder: nn.Module) -> torch.device:
    tensors: Iterator[Tensor] = chain(encoder.parameters(), encoder.buffers())
    first = next(tensors, None)
    return torch.device("cpu") if first is None else first.device


@contextmanager
def _predicting(encoder: nn.Module) -> Iterator[None]:
    """The encoder in eval mode without gradients; afterwards in the mode it was in."""
    modes = {module: module.training for module in encoder.modules() if module.training}
    try:
        if modes:
            encoder.eval()
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode

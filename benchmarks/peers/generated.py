"""A pool that is never stored: its rows are made from the number of their block."""

import torch
from torch import Tensor

from askwise.seeding import generator

_BLOCK = 4096


class Generated:
    """Features [N, width]; a slice of them is the same whoever asks, in whatever order."""

    def __init__(self, count: int, width: int, *, seed: int = 0) -> None:
        self.shape = (count, width)
        self._seed = seed
        self._last: tuple[int, Tensor] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: slice) -> Tensor:
        start, stop, step = wanted.indices(len(self))
        if step != 1:
            raise IndexError("generated rows come in order, without steps")
        parts = [self._block(number) for number in range(start // _BLOCK, -(-stop // _BLOCK))]
        if not parts:
            return torch.empty(0, self.shape[1])
        return torch.cat(parts)[start % _BLOCK :][: stop - start]

    def _block(self, number: int) -> Tensor:
        """The rows of one block; the last is kept, for batches are smaller than blocks."""
        if self._last is None or self._last[0] != number:
            rng = generator(self._seed, "pool", number)
            self._last = number, torch.randn(_BLOCK, self.shape[1], generator=rng)
        return self._last[1]

"""Ends a training when validation data no longer improve, and goes back to the best weights."""

import copy
import math
from collections.abc import Callable

from torch import nn

from askwise.train.optimizer import Optimizer


class EarlyStop:
    """Watches `loss()` after each epoch; `over` once it has not improved for `patience` epochs."""

    def __init__(
        self, network: nn.Module, optimizer: Optimizer, loss: Callable[[], float], *, patience: int
    ) -> None:
        self._network, self._optimizer, self._loss, self._patience = network, optimizer, loss, patience
        self._lowest, self._waited = math.inf, 0
        self._best = self._now()

    @property
    def over(self) -> bool:
        """Whether the training should end."""
        return self._waited >= self._patience

    def check(self) -> float:
        """The loss on the validation data; remembers the weights if it is the lowest so far."""
        value = self._loss()
        if value < self._lowest:
            self._lowest, self._waited, self._best = value, 0, self._now()
        else:
            self._waited += 1
        return value

    def restore(self) -> None:
        """Put the best weights back; an optimizer that learns deviations gets those of the same epoch."""
        weights, state = self._best
        self._network.load_state_dict(weights)
        self._optimizer.load_state_dict(state)

    def _now(self) -> tuple[dict[str, object], dict[str, object]]:
        return copy.deepcopy((self._network.state_dict(), self._optimizer.state_dict()))

"""When a training ends before its last epoch: its loss no longer falls, or validation no longer improves."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import nn

from askwise.train.optimizer import Optimizer

WINDOW = 10
"""Epochs over which a loss is averaged: minibatches, drawn weights and dropout all make noise."""

_WATCHED = ("loss", "nll")  # both: where a large KL still falls, or is all that fell, the loss alone misleads


@dataclass(frozen=True)
class Ending:
    """What a posterior asks of a training that ends before its last epoch."""

    after: int = 0
    """Epochs in which the terms of the loss still change their weight: their losses do not compare."""
    tail: int = 0
    """Epochs that must follow once the loss has converged."""
    moved: Callable[[int], None] = lambda _steps: None
    """Told by how many steps the end comes earlier, as soon as that is known."""


def converged(losses: Sequence[float], fraction: float) -> bool:
    """Whether the last window improved on the one before by no more than a fraction of the fall so far.

    A fraction of the fall, not of the loss: that of numbers can be negative, and that of classes can
    halve for ever. Two windows are the least that can be compared.
    """
    if len(losses) < 2 * WINDOW:
        return False
    before, now = sum(losses[-2 * WINDOW : -WINDOW]) / WINDOW, sum(losses[-WINDOW:]) / WINDOW
    return before - now <= fraction * max(0.0, losses[0] - now)


def last_epoch(
    history: Sequence[Mapping[str, float]], epochs: int, fraction: float | None, ending: Ending
) -> int:
    """With which epoch learning ends, by the history up to now: the last one unless it has converged."""
    sooner = len(history) + ending.tail
    if fraction is None or sooner >= epochs:
        return epochs
    seen = history[ending.after :]
    watched = [name for name in _WATCHED if seen and name in seen[0]]
    done = watched and all(converged([terms[name] for terms in seen], fraction) for name in watched)
    return sooner if done else epochs


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

"""When the training loss falls no more, so that further epochs would bring nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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

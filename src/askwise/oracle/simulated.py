"""An oracle that knows the truth and errs, waits and refuses as told: everything follows from seed and id."""

from collections.abc import Mapping, Sequence
from typing import Any

from askwise.errors import InputError
from askwise.oracle.contract import Question
from askwise.seeding import derive
from askwise.store.classes import names, position
from askwise.store.facts import CANNOT_TELL, SKIP, Told

_WHOLE = 2**56  # derive() gives whole numbers below this


class Simulated:
    """Answers from known labels.

    `noise`, `skip` and `cannot_tell` are fractions of the items; an answer comes after up to `delay`
    further calls in which its item is asked.
    """

    def __init__(
        self,
        labels: Mapping[str, Any],
        *,
        classes: int | Sequence[str | int],
        noise: float = 0.0,
        skip: float = 0.0,
        cannot_tell: float = 0.0,
        delay: int = 0,
        seed: int = 0,
    ) -> None:
        for name, part in {"noise": noise, "skip": skip, "cannot_tell": cannot_tell}.items():
            if not 0 <= part <= 1:
                raise InputError(f"{name} is a fraction from 0 to 1, not {part!r}")
        if skip + cannot_tell > 1:
            raise InputError(f"skip and cannot_tell must not exceed 1 together, and are {skip + cannot_tell}")
        if delay < 0:
            raise InputError(f"delay is a number of calls, at least 0, not {delay!r}")
        self._names = names(classes)
        self.labels = labels
        self._noise, self._skip, self._cannot_tell = noise, skip, cannot_tell
        self._delay, self._seed = delay, seed
        self._calls: dict[str, int] = {}

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The answers whose delay is over."""
        told: dict[str, Told] = {}
        for question in questions:
            calls = self._calls[question.id] = self._calls.get(question.id, 0) + 1
            if calls > self._number("delay", question.id) % (self._delay + 1):
                told[question.id] = self._says(question.id)
        return told

    def _says(self, identity: str) -> Told:
        if identity not in self.labels:
            raise InputError(f"the oracle has no label for item {identity!r}")
        chance = self._number("refuse", identity) / _WHOLE
        if chance < self._skip:
            return SKIP
        if chance < self._skip + self._cannot_tell:
            return CANNOT_TELL
        true = position(self.labels[identity], self._names, what=f"the label of {identity!r}")
        if self._number("err", identity) / _WHOLE < self._noise:
            others = [name for place, name in enumerate(self._names) if place != true]
            return others[self._number("which", identity) % len(others)]
        return self._names[true]

    def _number(self, purpose: str, identity: str) -> int:
        return derive(self._seed, "oracle", purpose, identity)

"""An oracle that knows the truth and errs, delays or refuses as told; seed and id decide each answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from askwise.errors import InputError
from askwise.oracle.contract import Question
from askwise.oracle.labelling import Classes, Labelling
from askwise.seeding import derive
from askwise.store.classes import names
from askwise.store.facts import CANNOT_TELL, SKIP, Told

_WHOLE = 2**56  # derive() gives whole numbers below this


class Simulated:
    """Answers from known labels by id; what has none stays open.

    `classes` are names, or what a label is under another task. `noise`, `skip` and `cannot_tell` are
    fractions of the items; an answer comes after up to `delay` further calls in which its item is asked.

    >>> oracle = aw.oracle.Simulated({"a": "cat", "b": "dog"}, classes=["cat", "dog"])
    >>> oracle.answer([aw.oracle.Question(id="a", row=0, name="a", round=0, rank=0)])
    {'a': 'cat'}
    """

    def __init__(
        self,
        labels: Mapping[str, Any],
        *,
        classes: int | Sequence[str | int] | Labelling,
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
        self._kind = classes if isinstance(classes, Labelling) else Classes(names(classes))
        self.labels = labels
        self._noise, self._skip, self._cannot_tell = noise, skip, cannot_tell
        self._delay, self._seed = delay, seed
        self._calls: dict[str, int] = {}
        self._ids: list[str] | None = None

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The answers whose delay is over."""
        told: dict[str, Told] = {}
        for question in questions:
            if question.id not in self.labels:
                continue
            calls = self._calls[question.id] = self._calls.get(question.id, 0) + 1
            if calls > self._number("delay", question.id) % (self._delay + 1):
                told[question.id] = self._says(question.id)
        return told

    def _says(self, identity: str) -> Told:
        chance = self._number("refuse", identity) / _WHOLE
        if chance < self._skip:
            return SKIP
        if chance < self._skip + self._cannot_tell:
            return CANNOT_TELL
        wrong = self._number("err", identity) / _WHOLE < self._noise
        if not isinstance(self._kind, Classes):
            return self._another(identity) if wrong else self.labels[identity]
        true = self._kind.label(self.labels[identity], what=f"the label of {identity!r}")
        others = [name for place, name in enumerate(self._kind.names) if place != true]
        return others[self._number("which", identity) % len(others)] if wrong else self._kind.names[true]

    def _another(self, identity: str) -> Told:
        """The label of another item, which is wrong for tags, numbers and masks unless it is equal."""
        if self._ids is None:
            self._ids = sorted(self.labels)
        return self.labels[self._ids[self._number("which", identity) % len(self._ids)]]

    def _number(self, purpose: str, identity: str) -> int:
        return derive(self._seed, "oracle", purpose, identity)

"""Who answers: what an oracle is asked, and what it promises (tests/conformance/test_oracles.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from askwise.store.facts import Told
from askwise.store.labels import Label


@dataclass(frozen=True, kw_only=True)
class Question:
    """An item to be labelled, in a person's words."""

    id: str
    row: int
    """Its position in the array, file or folder it came from: `x[row]`."""
    name: str
    """The file, or the first words of a text."""
    round: int
    rank: int
    """Its place among the questions asked together; 0 is the most informative."""
    score: float | None = None
    guess: str | None = None
    """What the model would answer, as a file of labels writes it; None before the first model."""


@runtime_checkable
class Oracle(Protocol):
    """Someone or something that knows labels.

    - It answers some of the questions, all or none; what it leaves out stays open and is asked again.
    - It answers nothing that was not asked.
    - An answer is a label of the run's task (a class or its number, a collection of tags, numbers, a mask),
      SKIP or CANNOT_TELL.
    """

    def answer(self, questions: Sequence[Question]) -> Mapping[str, Told]:
        """What is known by now, by the id of the item."""


@runtime_checkable
class Corrector(Protocol):
    """An oracle that may change its mind: a file that was edited."""

    def corrections(self, answered: Mapping[str, Label]) -> Mapping[str, Told]:
        """What it says otherwise by now of the items it answered, by id."""

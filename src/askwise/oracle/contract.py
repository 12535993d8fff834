"""Who answers: what an oracle promises (tests/conformance/test_oracles.py)."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from askwise.store.facts import Question, Told


@runtime_checkable
class Oracle(Protocol):
    """Someone or something that knows labels.

    - It answers some of the questions, all or none; what it leaves out stays open and is asked again.
    - It answers nothing that was not asked.
    - An answer is a class, its number, SKIP or CANNOT_TELL.
    """

    def answer(self, questions: Sequence[Question]) -> Mapping[str, Told]:
        """What is known by now, by the id of the item."""

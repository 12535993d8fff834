"""An oracle that calls a function."""

from collections.abc import Callable, Sequence

from askwise.errors import AskwiseError
from askwise.oracle.contract import Question
from askwise.store.facts import Told


class OracleError(AskwiseError):
    """The function that should answer raised an error."""


class Function:
    """Answers with what a function says of a question; None means not yet.

    It answers one question at a time, so that each answer is stored before the next is sought: a
    person, or a paid service, is never asked twice because the process died.

    >>> oracle = aw.oracle.Function(lambda question: "cat" if question.row % 2 else "dog")
    >>> oracle.answer([aw.oracle.Question(id="a", row=0, name="a", round=0, rank=0)])
    {'a': 'dog'}
    """

    def __init__(self, function: Callable[[Question], Told | None]) -> None:
        self._function = function

    def answer(self, questions: Sequence[Question]) -> dict[str, Told]:
        """The first answer that the function has."""
        for question in questions:
            try:
                told = self._function(question)
            except Exception as error:  # the user's code: name the item, keep what was answered before
                raise OracleError(
                    f"the oracle failed on item {question.id!r}: {type(error).__name__}: {error}; "
                    "all earlier answers are stored"
                ) from error
            if told is not None:
                return {question.id: told}
        return {}

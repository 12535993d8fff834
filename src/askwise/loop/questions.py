"""Questions as people see them: with row, name and what the model would answer."""

from collections.abc import Iterable

from askwise.loop.setting import Setting
from askwise.oracle import Question
from askwise.store.facts import Question as Asked


class Questions(list[Question]):
    """The open questions; where there are none, `reason` says why."""

    def __init__(self, found: Iterable[Question], *, reason: str | None) -> None:
        super().__init__(found)
        self.reason = reason

    def __repr__(self) -> str:
        """The questions, or why there are none."""
        return super().__repr__() if self else f"nothing to ask: {self.reason}"


def open_questions(setting: Setting) -> list[Question]:
    """The open questions: the oldest first, of those asked together the best."""
    waiting = [*setting.ledger.questions(), *setting.testing().open()]
    return [shown(setting, asked) for asked in sorted(waiting, key=lambda one: (one.revision, one.rank))]


def shown(setting: Setting, asked: Asked) -> Question:
    """A question in a person's words; of which kind it is cannot be seen."""
    return Question(
        id=asked.id,
        row=setting.pool.row(asked.id) if asked.id in setting.pool else -1,
        name=setting.pool.name(asked.id) if asked.id in setting.pool else asked.id,
        round=asked.round,
        rank=asked.rank,
        score=asked.score,
        guess=None if asked.guess is None else setting.labelling.text(asked.guess),
    )

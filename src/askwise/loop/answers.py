"""Answers become facts: all are checked, then all are appended at once."""

from collections.abc import Mapping
from typing import Any

from askwise.errors import InputError
from askwise.loop.edits import refuse_gone
from askwise.loop.opening import sync_grown
from askwise.loop.setting import Setting
from askwise.store.facts import RETRACT, Answer, NoLabel
from askwise.store.labels import Mask


def tell(
    setting: Setting,
    told: Mapping[Any, Any],
    *,
    annotator: str = "",
    key: str | None = None,
    view: str = "",
) -> list[Answer]:
    """The answer that holds for each item, now durable.

    What the same annotator has said already is not stored again; another value is a correction, and
    the history keeps both. `key` names this act of telling: repeated, it changes nothing. `view` says
    how the items were shown; `check` is looking again at what had been said.
    """
    sync_grown(setting)
    by_id = _by_id(setting, told)
    while by_id:
        setting.ledger.refresh()
        found = {name: _answer(setting, name, value, annotator, key, view) for name, value in by_id.items()}
        new = [answer for answer in found.values() if not answer.revision]
        setting.masks.keep(answer.label for answer in new if isinstance(answer.label, Mask))
        stored = {answer.id: answer for answer in setting.store.answer(new)}
        clash = next((one for one in new if not _same(one, stored[one.id])), None)
        if clash is None:
            setting.ledger.refresh()
            return [stored.get(name, answer) for name, answer in found.items()]
        if key is not None:
            raise _taken(clash.id, key)  # otherwise somebody told it at the same moment: correct that
    return []


def _by_id(setting: Setting, told: Mapping[Any, Any]) -> dict[str, Any]:
    """The answers by id; two for one item, by its id and by its row, are refused."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        identity = setting.pool.find(key)
        if identity in found:
            raise InputError(f"item {identity!r} is told twice, once as {key!r}; tell it once")
        found[identity] = value
    return found


def _answer(setting: Setting, name: str, value: Any, annotator: str, key: str | None, view: str) -> Answer:
    if name in setting.held:
        raise InputError(f"item {name!r} is held out for validation or test, and is not asked about")
    testing = setting.testing()
    trial = testing.trials.get(name) if name in testing else None
    asked = None if trial is None else trial.question
    if name in testing and asked is None and testing.begun:
        raise InputError(
            f"item {name!r} is kept for testing, so it is not learned from; it is asked when its turn comes"
        )
    label, verdict = None, "label"
    if isinstance(value, NoLabel):
        verdict = value.value
    else:
        what = f"the label of {name!r}"
        label = setting.labelling.label(value, what=what)
        refuse_gone(label, setting.ledger.rules, setting.plan.names, what=what)
    history = setting.ledger.history(name)
    own = f"#{len(history)}" if key is None else key
    new = Answer(
        id=name,
        key=own,
        verdict=verdict,
        label=label,
        annotator=annotator,
        view=view,
        question=setting.ledger.asked(name) if asked is None else asked.question,
    )
    past = setting.ledger.to_learn_from(name) if asked is None else testing.answers(name)
    if key is None:
        before = past[-1] if past and past[-1].annotator == annotator else None
        if before is not None and _same(before, new):
            return before
    else:
        before = next((one for one in past if (one.annotator, one.key) == (annotator, key)), None)
        if before is not None and _same(before, new):
            return before
        if before is not None:
            raise _taken(name, key)
    said = past and past[-1].verdict != "retract"
    if value is RETRACT and not said and not setting.ledger.answered(name):
        raise InputError(f"item {name!r} has no answer that could be taken back")
    return new


def _same(one: Answer, other: Answer) -> bool:
    return (one.verdict, one.label) == (other.verdict, other.label)


def _taken(name: str, key: str) -> InputError:
    return InputError(f"item {name!r} has another answer under the key {key!r}; correct it under a new key")

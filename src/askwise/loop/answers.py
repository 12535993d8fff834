"""From what somebody says to facts: checked all together, then appended all together."""

from collections.abc import Mapping
from typing import Any

from askwise.errors import InputError
from askwise.loop.opening import sync_grown
from askwise.loop.setting import Setting
from askwise.store.classes import position
from askwise.store.facts import Answer, NoLabel


def tell(
    setting: Setting, told: Mapping[Any, Any], *, author: str = "", key: str | None = None
) -> list[Answer]:
    """The answer that holds for each item, now durable.

    What is known already is not stored again; another value for an answered item is a correction,
    and the history keeps both. `key` names this act of telling: repeated, it changes nothing.
    """
    with setting.store.exclusive():
        sync_grown(setting)
        setting.ledger.refresh()
        by_id = _by_id(setting, told)
        found = [_answer(setting, name, value, author, key) for name, value in by_id.items()]
        setting.store.append([answer for answer in found if not answer.revision])
        setting.ledger.refresh()
    return [setting.ledger.answered(answer.key) or answer for answer in found]


def _by_id(setting: Setting, told: Mapping[Any, Any]) -> dict[str, Any]:
    """The answers by id; two for one item, by its id and by its row, are refused."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        identity = setting.pool.find(key)
        if identity in found:
            raise InputError(f"item {identity!r} is told twice, once as {key!r}; tell it once")
        found[identity] = value
    return found


def _answer(setting: Setting, name: str, value: Any, author: str, key: str | None) -> Answer:
    if name in setting.held:
        raise InputError(f"item {name!r} is held out for validation or test, and is not asked about")
    label, kind = None, "label"
    if isinstance(value, NoLabel):
        kind = value.value
    else:
        label = position(value, setting.plan.classes, what=f"the label of {name!r}")
    history = setting.ledger.history(name)
    own = repr((name, len(history))) if key is None else repr((key, name))
    before = setting.ledger.answered(own) if key is not None else (history[-1] if history else None)
    if before is not None and (before.kind, before.label) == (kind, label):
        return before
    if before is not None and key is not None:
        raise InputError(
            f"item {name!r} has another answer under the key {key!r}; correct it under a new key"
        )
    return Answer(id=name, key=own, kind=kind, label=label, author=author)

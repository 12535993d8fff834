"""What people change about a run while it goes on: its classes, and the labels that answers disagree on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from askwise.errors import InputError, StaleError
from askwise.loop.plan import make, planned
from askwise.loop.setting import Labelled, Setting
from askwise.store.classes import edited, position
from askwise.store.facts import RULES, ClassEdit, NoLabel, Resolution
from askwise.store.labels import Label, Mask
from askwise.store.standing import Rules, rules


def rename(setting: Setting, old: str, new: str) -> None:
    """Give a class or a tag another name; its labels stay."""
    if setting.plan.kind == "regression":
        raise InputError("regression has no classes to rename; its numbers are named in the plan")
    known = setting.plan.names
    place = position(old, known, what="the class to rename")
    word = "tags" if setting.plan.tags else "classes"
    plan = make(setting.plan.model_dump() | {word: [*known[:place], new, *known[place + 1 :]]})
    edit = ClassEdit(edit="rename", number=place, name=new)
    setting.store.append([edit, planned(plan)])
    setting.plan = plan


def take_out(setting: Setting, edit: str, old: str, into: Iterable[str]) -> None:
    """Merge a class into another, split it into others, or retire it; training follows with its next round.

    The network keeps its outputs: a class keeps its number for ever.
    """
    if setting.plan.kind != "classification":
        raise InputError(f"the classes of {setting.plan.kind} can be renamed; {edit} serves classification")
    classes = setting.plan.classes
    number = position(old, classes, what=f"the class to {edit}")
    successors = tuple(position(one, classes, what="the class that takes its place") for one in into)
    fact = ClassEdit(edit=edit, number=number, into=successors)
    while True:
        revision = setting.store.revision
        edited([*setting.store.facts(ClassEdit), fact])  # what makes no sense is refused
        try:
            setting.store.append([fact], expect=revision)
            break
        except StaleError:  # somebody answered meanwhile: look again
            continue
    how = rules(setting.store.facts(*RULES))
    setting.measured = {name: measured_now(data, how) for name, data in setting.measured.items()}


def resolve(setting: Setting, words: Mapping[Any, Any], *, annotator: str, note: str) -> list[Resolution]:
    """The resolutions of these items as they are stored: they hold in spite of what was answered."""
    ledger, found = setting.ledger.refresh(), []
    for key, value in words.items():
        name = setting.pool.find(key)
        verdict, label = value.value if isinstance(value, NoLabel) else "label", None
        if verdict == "label":
            what = f"the label of {name!r}"
            label = setting.labelling.label(value, what=what)
            refuse_gone(label, ledger.rules, setting.plan.names, what=what)
        said = tuple(answer.seq for answer in ledger.history(name))
        found.append(
            Resolution(id=name, verdict=verdict, label=label, annotator=annotator, answers=said, note=note)
        )
    setting.masks.keep(one.label for one in found if isinstance(one.label, Mask))
    revision = setting.store.append(found)
    ledger.refresh()
    return setting.store.facts(Resolution, since=revision - 1)[: len(found)]


def refuse_gone(label: Label, how: Rules, classes: Sequence[str], *, what: str) -> None:
    """Refuse a class that was split or retired; the labels of a merged one count for the other."""
    if not isinstance(label, int) or how.counts_for(label) is not None:
        return
    instead = [classes[number] for number in how.into.get(label, ()) if number < len(classes)]
    hint = f"say one of: {', '.join(instead)}" if instead else "say another, or that it cannot be told"
    raise InputError(f"{what} is {classes[label]!r}, a class that is no longer in use; {hint}")


def measured_now(data: Labelled, how: Rules) -> Labelled:
    """Data with their labels as they count by now; those without a class are left out."""
    if not how.into or data.labels.ndim != 1 or data.labels.is_floating_point():
        return data
    found = [how.counts_for(int(label)) for label in data.labels]
    kept = torch.tensor([place for place, label in enumerate(found) if label is not None], dtype=torch.long)
    labels = torch.tensor([label for label in found if isinstance(label, int)], dtype=data.labels.dtype)
    return replace(data, inputs=data.inputs[kept], labels=labels)

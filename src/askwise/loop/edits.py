"""What people change about a run while it goes on: its classes, and the labels that answers disagree on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch

from askwise.errors import InputError, StaleError
from askwise.loop.plan import make, planned
from askwise.loop.setting import Labelled, Setting
from askwise.store.classes import changed, edited
from askwise.store.facts import MOVING_EDITS, RULES, ClassEdit, Fact, NoLabel, Resolution
from askwise.store.labels import Label, Mask
from askwise.store.standing import Rules, rules


def change(setting: Setting, edit: str, old: str, to: Sequence[str] = ()) -> None:
    """Rename a class or tag, or put it under a heading; merge, split or retire a class.

    Training follows with its next round. The network keeps its outputs: a class keeps its number for ever.
    """
    plan = setting.plan
    if plan.kind == "regression" or (plan.kind != "classification" and edit in MOVING_EDITS):
        raise InputError(f"the labels of {plan.kind} are not moved by names; {edit} serves classification")
    kind = "tag" if plan.tags else "class"
    while True:
        revision, edits = setting.store.revision, setting.store.facts(ClassEdit)
        new = changed(edited(edits), edit, old, to, kind=kind)
        if any(fact.edit == "add" for fact in new):
            raise InputError(
                f"{', '.join(to)}: a {edit} names classes that the network has outputs for already"
            )
        facts: list[Fact] = list(new)
        names = edited([*edits, *new]).names
        if tuple(names) != plan.names:
            plan = make(plan.model_dump() | {plan.made_of: names})
            facts.append(planned(plan))
        try:
            setting.store.append(facts, expect=revision)
            break
        except StaleError:  # somebody answered meanwhile: look again
            continue
    setting.plan = plan
    how = rules(setting.store.facts(*RULES))
    setting.measured = {name: measured_now(data, how) for name, data in setting.measured.items()}


def asked_anew(setting: Setting, most: int) -> dict[str, tuple[int, ...]]:
    """The items of a class that was split, up to `most`, each with the classes it has become.

    They come before all others: a person has begun to tell the parts apart. Those that are open already
    are left out, unless the loop is about to ask them once more.
    """
    ledger = setting.ledger.refresh()
    waiting = (
        (name, among)
        for name, among in sorted(ledger.split.items())
        if name in setting.pool and (name not in ledger.open or name in setting.again)
    )
    return dict(islice(waiting, most))


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

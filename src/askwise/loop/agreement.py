"""How far people agree, by what they answered blind, and the items on which they do not.

An answer is blind if its annotator saw neither a guess of the model nor what somebody else had said.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch

from askwise.assess import cohen, fleiss, krippendorff
from askwise.errors import InputError
from askwise.store.facts import Answer, Resolution
from askwise.store.labels import Label, Tags
from askwise.store.standing import Rules, votes

BLIND = ("", "ask")
"""The views that show an item alone."""


@dataclass(frozen=True)
class Pair:
    """Two people, how many items both have answered, and Cohen's kappa; none where it says nothing."""

    first: str
    second: str
    items: int
    cohen: float | None


@dataclass(frozen=True)
class Agreement:
    """Of the items with several blind answers: how many, the share answered alike, and beyond chance."""

    items: int
    same: float | None
    krippendorff: float | None
    fleiss: float | None
    pairs: list[Pair]


@dataclass(frozen=True)
class Disagreement:
    """An item, and the last word of each annotator about it."""

    id: str
    words: list[Answer]


def blind_words(answers: Iterable[Answer], how: Rules) -> dict[str, dict[str, Label]]:
    """By item and annotator the last label that was given blind, as it counts by now."""
    found: dict[str, dict[str, Label]] = {}
    for one in answers:
        said = found.setdefault(one.id, {})
        if one.verdict == "retract":
            said.pop(one.annotator, None)
        if one.verdict != "label" or one.assisted or one.view not in BLIND:
            continue
        label = how.counts_for(one.label)
        if label is None:
            said.pop(one.annotator, None)
        else:
            said[one.annotator] = label
    return {name: said for name, said in found.items() if said}


def agreement(answers: Iterable[Answer], how: Rules, *, kind: str, classes: int) -> Agreement:
    """Agreement on the items that several people labelled blind; tags are compared one by one."""
    several = {name: said for name, said in blind_words(answers, how).items() if len(said) > 1}
    if not several or kind not in ("classification", "multilabel"):
        return Agreement(len(several), None, None, None, [])
    same = sum(len(set(said.values())) == 1 for said in several.values()) / len(several)
    units = [unit for said in several.values() for unit in _units(said, kind, classes)]
    count = 2 if kind == "multilabel" else classes
    items = [at for at, unit in enumerate(units) for _ in unit]
    labels = [label for unit in units for label in unit.values()]
    sizes = {len(unit) for unit in units}
    counts = torch.stack([torch.tensor(list(unit.values())).bincount(minlength=count) for unit in units])
    return Agreement(
        len(several),
        same,
        _said(krippendorff, items, labels, classes=count),
        _said(fleiss, counts) if len(sizes) == 1 else None,
        _pairs(several, kind, classes, count),
    )


def _pairs(several: dict[str, dict[str, Label]], kind: str, classes: int, count: int) -> list[Pair]:
    people = sorted({name for said in several.values() for name in said})
    found = []
    for first, second in combinations(people, 2):
        pair = {first, second}
        both = [{n: said[n] for n in pair} for said in several.values() if pair <= said.keys()]
        if not both:
            continue
        units = [unit for said in both for unit in _units(said, kind, classes)]
        one, two = (torch.tensor([unit[name] for unit in units]) for name in (first, second))
        found.append(Pair(first, second, len(both), _said(cohen, one, two, classes=count)))
    return found


def _units(said: dict[str, Label], kind: str, classes: int) -> list[dict[str, int]]:
    """What is compared: the class, or of every tag whether it was given where everybody knew."""
    if kind == "classification":
        return [{name: label for name, label in said.items() if isinstance(label, int)}]
    given = {name: label for name, label in said.items() if isinstance(label, Tags)}
    known = [tag for tag in range(classes) if not any(tag in label.unknown for label in given.values())]
    return [{name: int(tag in label.tags) for name, label in given.items()} for tag in known]


def _said(measure: Callable[..., float], *given: Any, **options: int) -> float | None:
    try:
        return measure(*given, **options)
    except InputError:
        return None  # all answers are of one class


def disagreements(answers: Iterable[Answer], words: Iterable[Resolution], how: Rules) -> list[Disagreement]:
    """The items whose annotators said different things at last, and that nobody has settled since.

    A resolution settles. Where the latest answer holds, so does one that was given in Check: whoever looks
    again there has the last word.
    """
    by_item: dict[str, list[Answer]] = {}
    for one in answers:
        by_item.setdefault(one.id, []).append(one)
    settled = {word.id: 0 if word.verdict == "retract" else word.seq for word in words}
    found = []
    for name, all_said in by_item.items():
        said = list(votes(all_said, how)[0].values())
        newest = max(said, key=lambda one: one.seq, default=None)
        if newest is None or newest.seq < settled.get(name, 0):
            continue
        checked = how.policy == "latest" and newest.view == "check"
        if not checked and len({(one.verdict, one.label) for one in said}) > 1:
            found.append(Disagreement(name, said))
    return found

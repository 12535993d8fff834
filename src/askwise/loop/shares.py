"""How many of the pool are of a class, and the mean of a number: from test answers and all predictions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import Any

import torch

from askwise.assess import Estimate, group_prevalence, mean, prevalence
from askwise.errors import InputError
from askwise.loop.measure import known_by
from askwise.loop.models import latest
from askwise.loop.setting import Setting
from askwise.loop.testing import Testing
from askwise.store.classes import position
from askwise.store.labels import Label, Numbers, Tags


@dataclass(frozen=True)
class Share:
    """The share of a class, or the mean of a number, in the pool or a part of it; or why it is not known."""

    part: str
    estimate: Estimate | None
    skipped: int
    why: str = ""
    more: int | None = None
    """Uniform answers that the wanted width should take besides, where one was wanted: at most all that are
    left, which give no width below `estimate.floor`."""

    def as_json(self) -> dict[str, Any]:
        """The share as plain values."""
        return asdict(self)


def share_of(
    setting: Setting,
    label: str,
    *,
    parts: Mapping[str, str] | None = None,
    width: int | float | None = None,
    alpha: int | float = 0.05,
) -> list[Share]:
    """The share of a class over the pool, then over every part of it (`parts` names that of each item).

    The pool is all items that are not held out. The items kept for testing are a uniform sample of those of
    them that had no label at the beginning, and the test answers one of these: both enter the interval.
    After items were added the answers up to the first item that was not asked are one, as for the band.

    Where labels are numbers it is the mean of the number of that name. Every interval is valid by itself; of
    what kind it is, it says.
    """
    setting.refresh()
    testing = setting.testing()
    if not testing.on:
        raise InputError(
            "an estimate rests on test questions, and this run has none; begin a project with testing = 0.2"
        )
    number, fitted = latest(setting)  # its temperature was chosen on these very answers, so without it
    if fitted is None:
        raise InputError(
            "there is no model yet, so there is nothing to estimate with; answer questions first"
        )
    kind = setting.plan.kind
    if kind == "segmentation":
        raise InputError("an estimate is of a class, a tag or a number, and the task is segmentation")
    numbers = kind == "regression"
    what = {"regression": "the number", "multilabel": "the tag"}.get(kind, "the class")
    place = position(label, setting.plan.names, what=f"{what} to estimate")
    ids, means = known_by(setting, fitted, number, testing.order())
    column = (means[:, place] if means.ndim == 2 else means[:, place, 1]).double()
    column = column if numbers else column.clamp(0, 1)
    predicted = dict(zip(ids, column.tolist(), strict=True))
    value: Callable[[Label | None, int], bool | float | None] = _number if numbers else _is
    drawn = set(takewhile(testing.asked.__contains__, ids)) if testing.grown() else predicted.keys()
    said = {one.id: value(one.label, place) for one in testing.tested() if one.id in drawn}
    groups = {name: testing.group_of(name) for name in ids} if testing.groups else None
    every = [name for name in setting.pool.ids if name not in setting.held]
    estimate = _mean if numbers else _share
    whole = _Known(said, predicted, _count(testing, every), groups, alpha)
    found = [estimate("all", whole)]
    for part in sorted({parts[name] for name in ids if name in parts}) if parts else ():
        mine = {name for name in ids if parts is not None and parts.get(name) == part}
        size = _count(testing, [name for name in every if parts is not None and parts.get(name) == part])
        found.append(estimate(part, whole.within(mine, population=size)))
    if width is None:
        return found
    return [replace(one, more=one.estimate.more(width) if one.estimate else None) for one in found]


def _count(testing: Testing, names: Sequence[str]) -> int:
    """How many draws these items allow: of groups, where there are any."""
    return len({testing.group_of(name) for name in names}) if testing.groups else len(names)


def _is(label: Label | None, place: int) -> bool | None:
    """Whether a label names the class or the tag; None where nobody knows."""
    if isinstance(label, Tags):
        return None if place in label.unknown else place in label.tags
    return None if label is None else label == place


def _number(label: Label | None, place: int) -> float | None:
    """The number that a label gives; None where nobody knows."""
    return label.values[place] if isinstance(label, Numbers) else None


@dataclass(frozen=True)
class _Known:
    """What was said of some items (None where nobody knows), and what is predicted of all that are kept."""

    said: Mapping[str, bool | float | None]
    predicted: Mapping[str, float]
    population: int
    groups: Mapping[str, str] | None
    alpha: int | float

    def within(self, ids: Collection[str], *, population: int) -> "_Known":
        """The same of these items alone."""
        said = {name: value for name, value in self.said.items() if name in ids}
        predicted = {name: value for name, value in self.predicted.items() if name in ids}
        return replace(self, said=said, predicted=predicted, population=population)

    def mean(self, answers: Mapping[str, float]) -> Estimate:
        """The mean over the population, from these answers and every prediction."""
        groups = self.groups
        return mean(
            torch.tensor(list(answers.values()), dtype=torch.float64),
            torch.tensor([self.predicted[name] for name in answers], dtype=torch.float64),
            torch.tensor(list(self.predicted.values()), dtype=torch.float64),
            alpha=self.alpha,
            groups=None if groups is None else [groups[name] for name in answers],
            pool_groups=None if groups is None else [groups[name] for name in self.predicted],
            population=self.population,
        )

    def prevalence(self, answers: Mapping[str, bool]) -> Estimate:
        """The share over the population; of groups the mean of their shares."""
        if self.groups is not None:
            return group_prevalence(
                torch.tensor(list(answers.values())),
                [self.groups[name] for name in answers],
                pool=len({self.groups[name] for name in self.predicted}),
                population=self.population,
                alpha=self.alpha,
            )
        return prevalence(
            torch.tensor(list(answers.values())),
            torch.tensor([self.predicted[name] for name in answers], dtype=torch.float64),
            torch.tensor(list(self.predicted.values()), dtype=torch.float64),
            alpha=self.alpha,
            population=self.population,
        )


def _mean(part: str, known: _Known) -> Share:
    """The estimate; a skipped item could be any number, so the mean is that of the items with a number."""
    answers = {name: value for name, value in known.said.items() if value is not None}
    skipped = len(known.said) - len(answers)
    try:
        return Share(part, known.mean(answers), skipped)
    except InputError as error:
        return Share(part, None, skipped, str(error))


def _share(part: str, known: _Known) -> Share:
    """The estimate; a skipped item counts as of another class in the lower limit, as of this one above."""
    skipped = sum(value is None for value in known.said.values())
    ends = ({name: value is True or (value is None and above) for name, value in known.said.items()}
            for above in (False, True))  # fmt: skip
    try:
        low, high = (known.prevalence(end) for end in ends)
    except InputError as error:
        return Share(part, None, skipped, str(error))
    return Share(part, replace(low, value=(low.value + high.value) / 2, high=high.high), skipped)

"""How many of the pool are of a class, and the mean of a number: from test answers and all predictions."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from askwise.assess import Estimate, mean, prevalence
from askwise.errors import InputError
from askwise.loop.measure import known_by
from askwise.loop.models import latest
from askwise.loop.setting import Setting
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
    """Uniform answers that the wanted width should take besides, where one was wanted."""

    def as_json(self) -> dict[str, Any]:
        """It as plain values."""
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

    Where labels are numbers it is the mean of the number of that name. Every interval is valid by itself,
    for any number of answers; with groups, and of means, it is a t interval, for many.
    """
    setting.refresh()
    testing = setting.testing()
    if not testing.on:
        raise InputError(
            "an estimate rests on test questions, and this run has none; begin a project with testing = 0.2"
        )
    number, fitted = latest(setting)
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
    said = {one.id: value(one.label, place) for one in testing.tested() if one.id in predicted}
    groups = {name: testing.group_of(name) for name in ids} if testing.groups else None
    estimate = _mean if numbers else _share
    found = [estimate("all", said, predicted, groups, alpha)]
    for part in sorted({parts[name] for name in ids if name in parts}) if parts else ():
        mine = {name for name in ids if parts is not None and parts.get(name) == part}
        inside = {name: one for name, one in said.items() if name in mine}
        of_part = {name: value for name, value in predicted.items() if name in mine}
        found.append(estimate(part, inside, of_part, groups, alpha))
    if width is None:
        return found
    return [replace(one, more=one.estimate.more(width) if one.estimate else None) for one in found]


def _is(label: Label | None, place: int) -> bool | None:
    """Whether a label names the class or the tag; None where nobody knows."""
    if isinstance(label, Tags):
        return None if place in label.unknown else place in label.tags
    return None if label is None else label == place


def _number(label: Label | None, place: int) -> float | None:
    """The number that a label gives; None where nobody knows."""
    return label.values[place] if isinstance(label, Numbers) else None


def _mean(
    part: str,
    said: Mapping[str, bool | float | None],
    predicted: Mapping[str, float],
    groups: Mapping[str, str] | None,
    alpha: int | float,
) -> Share:
    """The estimate; a skipped item could be any number, so the mean is that of the items with a number."""
    known = {name: value for name, value in said.items() if value is not None}
    skipped = len(said) - len(known)
    try:
        found = mean(
            torch.tensor(list(known.values()), dtype=torch.float64),
            torch.tensor([predicted[name] for name in known], dtype=torch.float64),
            torch.tensor(list(predicted.values()), dtype=torch.float64),
            alpha=alpha,
            groups=None if groups is None else [groups[name] for name in known],
            pool_groups=None if groups is None else [groups[name] for name in predicted],
        )
    except InputError as error:
        return Share(part, None, skipped, str(error))
    return Share(part, found, skipped)


def _share(
    part: str,
    said: Mapping[str, bool | float | None],
    chance: Mapping[str, float],
    groups: Mapping[str, str] | None,
    alpha: int | float,
) -> Share:
    """The estimate; a skipped item counts as of another class in the lower limit, as of this one above."""
    skipped = sum(value is None for value in said.values())
    predicted = torch.tensor([chance[name] for name in said], dtype=torch.float64)
    pool = torch.tensor(list(chance.values()), dtype=torch.float64)
    ends = [torch.tensor([bool(value is None and above) or value is True for value in said.values()])
            for above in (False, True)]  # fmt: skip
    try:
        low, high = (_estimate(end, predicted, pool, list(said), list(chance), groups, alpha) for end in ends)
    except InputError as error:
        return Share(part, None, skipped, str(error))
    value = (low.value + high.value) / 2
    return Share(part, replace(low, value=value, high=high.high), skipped)


def _estimate(
    positive: Tensor,
    predicted: Tensor,
    pool: Tensor,
    ids: list[str],
    every: list[str],
    groups: Mapping[str, str] | None,
    alpha: int | float,
) -> Estimate:
    if groups is None:
        return prevalence(positive, predicted, pool, alpha=alpha)
    found = mean(
        positive.double(),
        predicted,
        pool,
        alpha=alpha,
        groups=[groups[name] for name in ids],
        pool_groups=[groups[name] for name in every],
    )
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))

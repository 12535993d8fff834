"""Bands of parts of the accuracy that hold together: recall by class, balanced accuracy, every tag."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from askwise.assess.band import LEAST, STRICTER, Band, Spread, band, enough, limits, told
from askwise.assess.checks import between, class_numbers, same_length, several_classes
from askwise.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Recalls:
    """A band for the recall of every class and for their mean; all hold together, each at a share of alpha.

    A class with fewer than ten answers has none, nor has one that is no longer in use.
    """

    classes: tuple[Band | None, ...]
    balanced: Band


def recalls(
    labels: Int64[Tensor, " n"],
    predicted: Int64[Tensor, " n"],
    *,
    classes: int,
    gone: Collection[int] = (),
    alpha: int | float = 0.05,
    skipped: int = 0,
    stopping: bool = False,
) -> Recalls:
    """The bands of every class's recall and of balanced accuracy, which all hold together.

    `labels` and `predicted` are those of the answered test items; of the `classes` those that are `gone`
    (merged, split or retired) are no label any more. A skipped test item may be of any other: in the lower
    limits it counts as a wrong item of each.

    >>> labels = torch.arange(60) % 2
    >>> found = aw.assess.recalls(labels, torch.zeros(60, dtype=torch.long), classes=2)  # never class 1
    >>> [round(one.low, 2) for one in found.classes], [round(one.high, 2) for one in found.classes]
    ([0.83, 0.0], [1.0, 0.47])
    """
    used = [one for one in range(classes) if one not in gone]
    several_classes(len(used))
    between("alpha", alpha)
    same_length(labels=len(labels), predicted=len(predicted))
    class_numbers("labels", labels, classes)
    if lost := sorted(set(labels.tolist()) - set(used)):
        raise InputError(
            f"labels name class {lost[0]}, which is gone; say what it has become, or leave it out"
        )
    enough(len(labels) + skipped, what="test answers")
    each = alpha / (STRICTER if stopping else 1) / len(used)
    edges, found = list[tuple[float, float]](), dict[int, Band]()
    unknown = torch.zeros(len(labels) + skipped, dtype=torch.bool)
    unknown[len(labels) :] = True
    for one in used:
        of_class = torch.cat([labels == one, torch.ones(skipped, dtype=torch.bool)])
        wrong = torch.cat([predicted != one, torch.zeros(skipped, dtype=torch.bool)])[of_class]
        unsure = unknown[of_class]
        low, high = limits((wrong | unsure).double(), wrong.double(), None, None, each)
        edges.append((low, high))
        if int((~unsure).sum()) >= LEAST:
            found[one] = told(low, high, wrong, unsure, each)
    right = labels == predicted
    shares = [float(right[labels == one].double().mean()) for one in used if (labels == one).any()]
    balanced = Band(
        low=math.fsum(low for low, _ in edges) / len(used),
        high=math.fsum(high for _, high in edges) / len(used),
        share=math.fsum(shares) / len(shares) if shares else math.nan,
        answers=len(labels),
        skipped=skipped / (len(labels) + skipped),
        alpha=each * len(used),
    )
    return Recalls(classes=tuple(found.get(one) for one in range(classes)), balanced=balanced)


def tags(
    wrong: Bool[Tensor, "n L"],
    uncertainty: Float[Tensor, "n L"],
    region_uncertainty: Float[Tensor, "B L"] | Sequence[Spread],
    *,
    alpha: int | float = 0.05,
    skipped: Bool[Tensor, "n L"] | None = None,
    stopping: bool = False,
) -> tuple[Band, ...]:
    """The band of every tag's accuracy; all of them hold together. `skipped` are tags that nobody knows.

    >>> wrong, sure = torch.zeros(50, 2, dtype=torch.bool), torch.full((50, 2), 0.1)
    >>> [round(one.low, 2) for one in aw.assess.tags(wrong, sure, sure)]
    [0.89, 0.89]
    """
    between("alpha", alpha)
    count = wrong.shape[1]
    regions = region_uncertainty.T if isinstance(region_uncertainty, Tensor) else region_uncertainty
    same_length(tags=count, uncertain_tags=uncertainty.shape[1], tags_of_the_region=len(regions))
    unknown = torch.zeros_like(wrong) if skipped is None else skipped
    return tuple(
        band(w, u, region, alpha=alpha / count, skipped=missing, stopping=stopping)
        for w, u, region, missing in zip(wrong.T, uncertainty.T, regions, unknown.T, strict=True)
    )

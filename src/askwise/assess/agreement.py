"""How far annotators agree beyond chance: Cohen's kappa, Fleiss' kappa, Krippendorff's alpha."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.assess.checks import class_numbers, same_length, several_classes
from askwise.errors import InputError


def cohen(first: Int64[Tensor, " n"], second: Int64[Tensor, " n"], *, classes: int) -> float:
    """Cohen's kappa of two annotators who labelled the same n items (1960).

    >>> round(aw.assess.cohen(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 1, 0]), classes=2), 3)
    0.5
    """
    same_length(first=len(first), second=len(second))
    _some(len(first))
    for name, labels in (("first", first), ("second", second)):
        class_numbers(name, labels, several_classes(classes))
    table = torch.zeros(classes, classes, dtype=torch.float64)
    table.index_put_((first, second), torch.ones(len(first), dtype=torch.float64), accumulate=True)
    table = table / len(first)
    return _beyond(float(table.trace()), float(table.sum(dim=0) @ table.sum(dim=1)))


def fleiss(counts: Int64[Tensor, "N C"]) -> float:
    """Fleiss' kappa (1971), from how many annotators chose each class of items that had equally many.

    >>> round(aw.assess.fleiss(torch.tensor([[3, 0], [0, 3], [2, 1]])), 3)
    0.55
    """
    _some(len(counts))
    several_classes(counts.shape[1])
    each = counts.sum(dim=1)
    if bool((each != each[0]).any()) or int(each[0]) < 2:
        raise InputError(
            "Fleiss' kappa needs equally many answers for every item, at least 2; use Krippendorff's alpha"
        )
    votes, m = counts.double(), float(each[0])
    agreed = ((votes.square().sum(dim=1) - m) / (m * (m - 1))).mean()
    chance = votes.mean(dim=0).div(m).square().sum()
    return _beyond(float(agreed), float(chance))


def krippendorff(items: Sequence[int], labels: Sequence[int], *, classes: int) -> float:
    """Krippendorff's alpha of nominal labels; items may differ in their number of answers.

    >>> aw.assess.krippendorff([0, 0, 1, 1, 2], [0, 0, 1, 1, 1], classes=2)
    1.0
    """
    several_classes(classes)
    same_length(items=len(items), labels=len(labels))
    _some(len(items))
    item, label = torch.tensor(list(items)), class_numbers("labels", torch.tensor(list(labels)), classes)
    votes = torch.zeros(int(item.max()) + 1, classes, dtype=torch.float64)
    votes.index_put_((item, label), torch.ones(len(item), dtype=torch.float64), accumulate=True)
    each = votes.sum(dim=1)
    votes, each = votes[each > 1], each[each > 1]
    _some(len(votes), what="items with two answers")
    total = each.sum()
    together = _pairs(votes, each)
    seen = 1 - float(together.trace() / total)
    shares = together.sum(dim=1)
    chance = 1 - float((shares.square().sum() - total) / (total * (total - 1)))
    if chance == 0:
        return _same()
    return 1 - seen / chance


def _pairs(votes: Float[Tensor, "N C"], each: Float[Tensor, " N"]) -> Float[Tensor, "C C"]:
    """How often two answers to one item are each pair of classes; an item counts once for each answer."""
    weighted = votes / (each - 1).unsqueeze(1)
    return weighted.T @ votes - torch.diag(weighted.sum(dim=0))


def _beyond(agreed: float, chance: float) -> float:
    return (agreed - chance) / (1 - chance) if chance < 1 else _same()


def _same() -> float:
    raise InputError("all answers are of one class, so that agreement beyond chance says nothing")


def _some(count: int, *, what: str = "answers") -> None:
    if not count:
        raise InputError(f"agreement needs {what}, and there are none")

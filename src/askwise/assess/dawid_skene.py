"""How good each annotator is, without knowing the truth: Dawid and Skene's model (1979), by EM."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.assess.checks import class_numbers, same_length, several_classes
from askwise.errors import InputError, positive

_PRIOR_RIGHT, _PRIOR_WRONG = (
    2.0,
    1.0,
)  # answers an annotator has given before the first, of which one more was right


@dataclass(frozen=True)
class Annotators:
    """What is believed after all answers: the true classes, their shares, and every annotator's confusion.

    `confusion[a, k, j]` is the chance that annotator a answers j where k is true; `accuracy` is its diagonal
    weighted by the shares of the classes.
    """

    truth: Float[Tensor, "N C"]
    share: Float[Tensor, " C"]
    confusion: Float[Tensor, "A C C"]
    accuracy: Float[Tensor, " A"]


def dawid_skene(
    items: Sequence[int],
    annotators: Sequence[int],
    labels: Sequence[int],
    *,
    classes: int,
    steps: int = 200,
    within: float = 1e-6,
) -> Annotators:
    """The beliefs at which EM ends, begun at each item's majority; position i of the three is one answer.

    >>> items, annotators = [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]
    >>> found = aw.assess.dawid_skene(items, annotators, [0, 0, 1, 1, 1, 1], classes=2)
    >>> found.truth.argmax(1).tolist(), int(found.accuracy.argmin())  # the last one errs most
    ([0, 1], 2)
    """
    several_classes(classes)
    positive("steps", steps)
    same_length(items=len(items), annotators=len(annotators), labels=len(labels))
    if not len(items):
        raise InputError(
            "there are no answers; annotators are compared on items that several of them answered"
        )
    item, who, label = (
        torch.tensor(list(values), dtype=torch.int64) for values in (items, annotators, labels)
    )
    class_numbers("labels", label, classes)
    if int(item.min()) < 0 or int(who.min()) < 0:
        raise InputError("items and annotators are numbered from 0")
    if int(item.bincount().max()) < 2:
        raise InputError(
            "no item has two answers; annotators are compared on items that several of them answered"
        )
    truth = _majority(item, label, classes)
    for _ in range(steps):
        share, confusion = _learned(truth, item, who, label, classes)
        new = _believed(share, confusion, item, who, label)
        moved = float((new - truth).abs().max())
        truth = new
        if moved <= within:
            break
    share, confusion = _learned(truth, item, who, label, classes)
    accuracy = (confusion.diagonal(dim1=1, dim2=2) * share).sum(dim=1)
    return Annotators(truth, share, confusion, accuracy)


def _majority(item: Int64[Tensor, " M"], label: Int64[Tensor, " M"], classes: int) -> Float[Tensor, "N C"]:
    """The share of every class among an item's answers; an item without answers may be anything."""
    votes = torch.zeros(int(item.max()) + 1, classes, dtype=torch.float64)
    votes.index_put_((item, label), torch.ones(len(item), dtype=torch.float64), accumulate=True)
    total = votes.sum(dim=1, keepdim=True)
    return torch.where(total > 0, votes / total.clamp(min=1), torch.full_like(votes, 1 / classes))


def _learned(
    truth: Tensor, item: Tensor, who: Tensor, label: Tensor, classes: int
) -> tuple[Float[Tensor, " C"], Float[Tensor, "A C C"]]:
    """Shares and confusions under the beliefs: the M step, with invented answers that keep it off 0 and 1."""
    answered = item.bincount().nonzero().squeeze(1)
    share = (truth[answered].sum(dim=0) + 1) / (len(answered) + classes)
    counts = torch.full((int(who.max()) + 1, classes, classes), _PRIOR_WRONG / classes, dtype=torch.float64)
    counts += torch.eye(classes, dtype=torch.float64) * (_PRIOR_RIGHT - _PRIOR_WRONG)
    flat = counts.transpose(1, 2).reshape(-1, classes)  # [annotator x answer, true class]
    flat.index_add_(0, who * classes + label, truth[item])
    counts = flat.view(-1, classes, classes).transpose(1, 2)
    return share, counts / counts.sum(dim=2, keepdim=True)


def _believed(
    share: Tensor, confusion: Tensor, item: Tensor, who: Tensor, label: Tensor
) -> Float[Tensor, "N C"]:
    """The chance of every class for every item: the E step."""
    log = share.log().repeat(int(item.max()) + 1, 1)
    log.index_add_(0, item, confusion[who, :, label].log())
    return log.softmax(dim=1)

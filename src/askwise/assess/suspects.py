"""Labels that may be wrong: those that a model trained without them disagrees with."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.assess.checks import class_numbers, same_length, several_classes
from askwise.errors import InputError, positive
from askwise.math.checks import check_log_probs
from askwise.seeding import hashes
from askwise.types import Picks


@dataclass(frozen=True)
class Suspects:
    """Positions, the most suspect label first; for each the likelier label and both probabilities."""

    positions: Picks
    likelier: Int64[Tensor, " K"]
    given_probability: Float[Tensor, " K"]
    likelier_probability: Float[Tensor, " K"]


def suspects(
    log_probs: Float[Tensor, "N C"],
    labels: Int64[Tensor, " N"],
    *,
    count: int | None = None,
    seed: int = 0,
    ids: Sequence[str] | Sequence[int] | None = None,
) -> Suspects:
    """The labels that another class beats, the widest gap of the log-probabilities first; at most `count`.

    `log_probs` of an item come from a model that has not seen its label (`folds`): a model that has would
    find it likely.

    >>> log_probs = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]).log()
    >>> found = aw.assess.suspects(log_probs, torch.tensor([0, 0, 0]))
    >>> found.positions.tolist(), found.likelier.tolist()
    ([1, 2], [1, 1])
    """
    check_log_probs(log_probs.unsqueeze(1))
    several_classes(log_probs.shape[1])
    same_length(log_probs=len(log_probs), labels=len(labels))
    class_numbers("labels", labels, log_probs.shape[1])
    names = range(len(labels)) if ids is None else ids
    same_length(labels=len(labels), ids=len(names))
    given = log_probs.gather(1, labels.unsqueeze(1)).squeeze(1)
    others = log_probs.scatter(1, labels.unsqueeze(1), -torch.inf)
    best, likelier = others.max(dim=1)
    tied = hashes(seed, names).argsort(stable=True)
    order = tied[(given - best)[tied].argsort(stable=True)]
    order = order[given[order] < best[order]]
    if count is not None:
        order = order[: positive("count", count)]
    return Suspects(order, likelier[order], given[order].exp(), best[order].exp())


def folds(ids: Sequence[str] | Sequence[int], *, count: int = 5, seed: int = 0) -> Int64[Tensor, " N"]:
    """The fold of every item, of equal sizes: each fold is scored by a model trained on the others.

    >>> aw.assess.folds(["a", "b", "c", "d"], count=2).bincount().tolist()
    [2, 2]
    """
    if positive("count", count) < 2 or count > len(ids):
        raise InputError(f"count must be between 2 and the number of labels, {len(ids)}, not {count}")
    fold = torch.empty(len(ids), dtype=torch.int64)
    fold[hashes(seed, ids).argsort(stable=True)] = torch.arange(len(ids)) % count
    return fold

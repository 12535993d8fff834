"""What makes rare classes count: weights for the likelihood, or chances for drawing examples."""

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor

from askwise.tasks.categorical import known


def weights_of(counts: Float[Tensor, " C"]) -> Float[Tensor, " C"]:
    """N / (C n_c) for each of the C classes that were seen, and 0 for the others.

    The weight of an example is 1 on average, so the prior keeps its share of the loss.
    """
    seen = counts > 0
    return torch.where(seen, counts.sum() / (seen.sum() * counts), 0.0)


def class_counts(labels: Shaped[Tensor, "..."], classes: int, *, ignore: int | None) -> Float[Tensor, " C"]:
    """How often every class occurs among whole numbers of any shape."""
    return torch.bincount(labels[known(labels, ignore)].long(), minlength=classes).float()


def chances_of_classes(labels: Int64[Tensor, " N"], *, ignore: int | None) -> Float[Tensor, " N"]:
    """Inverse to how often an example's class occurs; an ignored one is never drawn."""
    own = known(labels, ignore)
    index = labels.masked_fill(~own, 0)
    counts = torch.bincount(index[own], minlength=1)
    return torch.where(own, 1 / counts[index].clamp(min=1), 0.0)


def chances_of_tags(present: Shaped[Tensor, "N L"]) -> Float[Tensor, " N"]:
    """Inverse to how often an example's rarest tag occurs; having none counts as a tag."""
    with_none = torch.cat([present, ~present.any(dim=1, keepdim=True)], dim=1)
    counts = with_none.sum(dim=0)
    return torch.where(with_none, 1 / counts.clamp(min=1), 0.0).amax(dim=1)

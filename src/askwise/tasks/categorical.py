"""What tasks with classes at every site have in common."""

import math

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor
from torch.nn import functional as F

from askwise.math.entropy import marginal
from askwise.math.uncertainty import entropies
from askwise.tasks.task import Prediction
from askwise.types import LogProbs, SiteScores

_NO_CLASS = -100  # what torch leaves out where nothing else is said; the checks of labels refuse it


def summary(log_probs: LogProbs) -> Prediction:
    """Mean probabilities [N, *sites, C], and uncertainty in nats [N, *sites]."""
    uncertainty = entropies(log_probs)
    return Prediction(
        marginal(log_probs).exp(), uncertainty.total, uncertainty.epistemic, uncertainty.aleatoric
    )


def known(labels: Tensor, ignore: int | None) -> Tensor:
    """Which labels are not to be ignored."""
    # As wide numbers: a byte takes 300 for 44, and -1 for 255.
    return torch.ones_like(labels, dtype=torch.bool) if ignore is None else labels.long() != ignore


def shares(labels: Tensor, weights: Tensor | None, *, ignore: int | None) -> Tensor:
    """How much every label [N, *sites] counts in the likelihood: 1 or its class's weight; 0 if ignored."""
    own = known(labels, ignore)
    if weights is None:
        return own.float()
    return weights[labels.long().masked_fill(~own, 0)].masked_fill(~own, 0)


def counted(d: Tensor, u: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of the Fisher information diag(d) - u u^T times `share`, one for all outputs of a site."""
    return d * share, u * share.sqrt()


def log_likelihood(log_probs: LogProbs, labels: Tensor, *, ignore: int | None = None) -> SiteScores:
    """Log of the mean probability of every label [N, *sites]; NaN where a label is ignored.

    Soft labels [N, *sites, C] give what is expected under them.
    """
    if labels.is_floating_point():
        return (labels * marginal(log_probs)).sum(dim=-1)
    unknown = ~known(labels, ignore)
    index = labels.long().masked_fill(unknown, 0)[:, None, ..., None].expand(*log_probs.shape[:-1], 1)
    own = log_probs.gather(-1, index).squeeze(-1)
    return (own.logsumexp(dim=1) - math.log(log_probs.shape[1])).masked_fill(unknown, math.nan)


def nll(
    log_probs: Float[Tensor, "N C *sites"], labels: Tensor, weights: Tensor | None, *, ignore: int | None
) -> Tensor:
    """Mean over items of the mean over an item's known sites; an item without any counts nothing."""
    if weights is None and ignore is None:
        return F.nll_loss(log_probs, labels.long())
    skip = _NO_CLASS if ignore is None else ignore
    weights = None if weights is None else weights.to(log_probs)
    each = F.nll_loss(log_probs, labels.long(), weights, reduction="none", ignore_index=skip)
    if ignore is None:
        return each.mean()
    sites = known(labels, ignore).reshape(len(labels), -1).sum(dim=1)
    per_item = each.reshape(len(each), -1).sum(dim=1) / sites.clamp(min=1)
    return per_item.sum() / (sites > 0).sum().clamp(min=1)


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

"""Ask where knowing the label would tell most about the predictions that matter."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.errors import InputError
from askwise.types import LogProbs, SiteScores

_SIDE = 1 << 10  # of the table of joint probabilities held at once: 4 MB in float32


def epig(log_probs: LogProbs, *, targets: Float[Tensor, "M S *target_sites B"]) -> SiteScores:
    """Mean mutual information of an item's label with each target's, in nats (Bickford Smith et al. 2023).

    Both predictions must come from the same T draws. Items and targets meet in chunks, so memory
    does not grow with either. Rounding below 0 becomes 0.
    """
    if targets.shape[1] != log_probs.shape[1]:
        raise InputError(
            "targets and log_probs must come from the same draws, "
            f"and have {targets.shape[1]} and {log_probs.shape[1]}"
        )
    if not len(targets):
        raise InputError("epig needs at least one target, and targets is empty")
    sites = log_probs.shape[2:-1].numel()
    width = max(1, _SIDE // log_probs.shape[2:].numel())
    total = torch.zeros(len(log_probs) * sites, dtype=torch.float64, device=log_probs.device)
    for aims in torch.split(targets, max(1, _SIDE // targets.shape[2:].numel())):
        right = _columns(aims.to(log_probs.dtype))
        for start in range(0, len(log_probs), width):
            left = _columns(log_probs[start : start + width])
            total[start * sites : (start + width) * sites] += _shared(left, right)
    mean = total / (len(targets) * targets.shape[2:-1].numel())
    return mean.clamp(min=0).to(log_probs.dtype).view(len(log_probs), *log_probs.shape[2:-1])


def _columns(log_probs: LogProbs) -> Float[Tensor, "T rows C"]:
    """Probabilities with the draws first, then items and sites as rows."""
    return log_probs.transpose(0, 1).flatten(start_dim=1, end_dim=-2).exp()


def _shared(left: Float[Tensor, "T n C"], right: Float[Tensor, "T m B"]) -> Float[Tensor, " n"]:
    """Mutual information of each left label with each right one, summed over the right."""
    joint = left.flatten(start_dim=1).T @ right.flatten(start_dim=1) / len(left)
    both = _terms(joint).sum(dim=1).view(left.shape[1:]).sum(dim=1)
    own = _terms(left.mean(dim=0)).sum(dim=1) * right.shape[1]
    return own + _terms(right.mean(dim=0)).sum() - both


def _terms(p: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """-p log p, and 0 where p is 0."""
    return -p * p.clamp(min=torch.finfo(p.dtype).tiny).log()

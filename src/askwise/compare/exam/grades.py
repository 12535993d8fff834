"""How far an answer is from the exact one: widths, covariance, predictions, order of the pool, picks."""

import math
from collections.abc import Mapping
from typing import TypeAlias

import torch
from jaxtyping import Float64
from torch import Tensor

from askwise.compare.exam.answer import Answer

Grades: TypeAlias = Mapping[str, float | None]
"""Every grade by name; none where a posterior does not order the pool at all."""

PICKS = (10, 50)
_FLAT = 1e-6  # nats or variance: a pool whose scores differ less is not ordered by them, but by rounding


def grade(found: Answer, gold: Answer, *, mean_field_std: Float64[Tensor, " W"]) -> Grades:
    """The grades of an answer against the exact one.

    `std_5`, `std` and `std_95` are quantiles over the weights of the ratio of standard deviations,
    `mean_field` is the median of its ratio to the mean-field optimum. `covariance` is the relative
    error in the Frobenius norm. `nll_gap` is of held-out labels, `kl` of their whole predictive
    distributions. `bald` and `epistemic` are rank correlations over the pool, `top_K` how many of
    the K items with the highest BALD are in common.
    """
    ratio = found.std / gold.std
    low, middle, high = ratio.quantile(torch.tensor([0.05, 0.5, 0.95], dtype=torch.float64)).tolist()
    return {
        "std_5": low,
        "std": middle,
        "std_95": high,
        "mean_field": (found.std / mean_field_std).median().item(),
        "covariance": covariance_error(found, gold),
        "nll_gap": (gold.log_density - found.log_density).mean().item(),
        "kl": divergence(gold.predicted, found.predicted),
        "bald": rank_correlation(found.bald, gold.bald),
        "epistemic": rank_correlation(found.epistemic, gold.epistemic),
        **{f"top_{count}": in_common(found.bald, gold.bald, count) for count in PICKS},
    }


def covariance_error(found: Answer, gold: Answer) -> float:
    """|found - gold| / |gold| in the Frobenius norm, without the share of either's sampling noise.

    The errors of two independent halves are multiplied: noise has a mean of 0 in the product, where
    210 weights would give it in the square of one error.
    """
    halves = zip(found.covariances, gold.covariances, strict=True)
    one, other = (mine - theirs for mine, theirs in halves)
    size = (gold.covariances[0] * gold.covariances[1]).sum()
    return math.sqrt(max(0.0, ((one * other).sum() / size).item()))


def divergence(gold: Float64[Tensor, "M E"], found: Float64[Tensor, "M E"]) -> float:
    """Mean KL(gold || found) of predictions in nats: probabilities, or mean and variance of numbers."""
    if gold.shape[1] > 2:
        return (torch.xlogy(gold, gold) - torch.xlogy(gold, found)).sum(dim=1).mean().item()
    (mean, variance), (own, wide) = gold.unbind(dim=1), found.unbind(dim=1)
    each = (variance + (mean - own).square()) / wide - 1 - (variance / wide).log()
    return each.mean().item() / 2


def rank_correlation(one: Float64[Tensor, " P"], other: Float64[Tensor, " P"]) -> float | None:
    """Spearman's, with the mean rank for ties; none if either does not order the items."""
    if min(_range(one), _range(other)) < _FLAT:
        return None
    return torch.corrcoef(torch.stack([_ranks(one), _ranks(other)]))[0, 1].item()


def in_common(one: Float64[Tensor, " P"], other: Float64[Tensor, " P"], count: int) -> float | None:
    """How many of the highest `count` are the same; none if either does not order the items."""
    if min(_range(one), _range(other)) < _FLAT:
        return None
    mine, theirs = (set(scores.topk(count).indices.tolist()) for scores in (one, other))
    return float(len(mine & theirs))


def _range(scores: Tensor) -> float:
    return (scores.max() - scores.min()).item()


def _ranks(scores: Float64[Tensor, " P"]) -> Float64[Tensor, " P"]:
    """From 1; equal scores share the mean of their ranks."""
    _, place, counts = torch.unique(scores, return_inverse=True, return_counts=True)
    ranks: Tensor = counts.cumsum(0) - (counts - 1) / 2
    return ranks.to(scores)[place]

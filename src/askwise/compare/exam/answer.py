"""What a posterior says about a head: moments of its weights, predictions, scores of the pool."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from askwise.acquire.bald import bald
from askwise.acquire.numbers import gaussian_bald
from askwise.compare.exam.heads import Head
from askwise.math import moments, uncertainty

_BUDGET = 2**23  # predictions that are held at a time


@dataclass(frozen=True, eq=False)
class Answer:
    """W weights (each output's, then its bias), M held-out items and P items of the pool."""

    mean: Float64[Tensor, " W"]
    covariances: Float64[Tensor, "2 W W"]
    """From two halves of the draws: the product of their errors has no bias from the number of draws."""
    predicted: Float64[Tensor, "M E"]
    """Of held-out items the probabilities of the classes; or of a number its mean and variance."""
    log_density: Float64[Tensor, " M"]
    """Of the held-out labels."""
    bald: Float64[Tensor, " P"]
    epistemic: Float64[Tensor, " P"]
    """Variance of the draws' probabilities, summed over the classes; or of their means."""

    @property
    def std(self) -> Float64[Tensor, " W"]:
        """The standard deviation of every weight."""
        return self.covariances.mean(dim=0).diagonal().clamp(min=0).sqrt()


def answer(head: Head, weights: Float64[Tensor, "T C W"], *, finite: bool = False) -> Answer:
    """The answer of T drawn weight matrices with the bias behind the weights; `finite` if they are all."""
    flat = weights.flatten(1)
    halves = (flat, flat) if finite else flat.chunk(2)
    found = [torch.cov(half.T, correction=0 if finite else 1).reshape(flat.shape[1], -1) for half in halves]
    held = [_held(head, weights, x, y) for x, y in _pieces(head, weights, *head.held)]
    scores = [_scores(head, weights, x) for (x,) in _pieces(head, weights, head.pool)]
    return Answer(
        flat.mean(dim=0),
        torch.stack(found),
        *(torch.cat(parts) for parts in zip(*held, strict=True)),
        *(torch.cat(parts) for parts in zip(*scores, strict=True)),
    )


def with_ones(features: Tensor) -> Float64[Tensor, "N W"]:
    """The features as float64 with a last one that is always 1, which the bias multiplies."""
    return torch.cat([features.double(), torch.ones(len(features), 1, dtype=torch.float64)], dim=1)


def _pieces(head: Head, weights: Tensor, *rows: Tensor) -> Iterator[tuple[Tensor, ...]]:
    size = max(1, _BUDGET // (len(weights) * head.outputs))
    return zip(*(torch.split(part, size) for part in rows), strict=True)


def _predictive(head: Head, weights: Tensor, x: Tensor) -> Tensor:
    """The predictive distribution of some items under every draw, as the head's task has it."""
    return head.task.predictive(torch.einsum("nw,tcw->ntc", with_ones(x), weights))


def _held(head: Head, weights: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    found = _predictive(head, weights, x)
    likely = head.task.log_likelihood(found, y).flatten()
    whole = head.task.summary(found)
    if head.task.supplies == "log_probs":
        return whole.mean, likely
    return torch.cat([whole.mean, whole.total], dim=1), likely


def _scores(head: Head, weights: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    found = _predictive(head, weights, x)
    if head.task.supplies == "log_probs":
        return bald(found), uncertainty.variances(found).epistemic.sum(dim=1)
    return gaussian_bald(found).flatten(), moments.variances(found).epistemic.flatten()

"""Ask for numbers that together tell most about the weights: BatchBALD of Gaussians, in closed form."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.selection.order import Ids, shuffled
from askwise.types import Moments, Picks, Scores


def gaussian_batchbald(moments: Moments, *, count: int, seed: int, ids: Ids) -> Picks:
    """The greedy batch with the largest log-determinant, log |I + K / noise| / 2 (after Kirsch et al. 2019).

    K is the covariance of the draws' means, noise the mean of their variances. The information of
    Gaussian values needs no enumeration, so the greedy batch is exact, and it has no ceiling of log T.
    A pick takes its direction out of what is left to know, at the price of one product.
    """
    order = shuffled(seed=seed, ids=ids).to(moments.device)
    left = _in_noise(moments[order])
    picks: list[int] = []
    for _ in range(count):
        gains = _gains(left)
        gains[picks] = -torch.inf
        picks.append(int(gains.argmax()))  # a tie goes to the first by hash
        for number in range(left.shape[1]):
            left = _given(left, left[picks[-1], number].clone())
    return order[torch.tensor(picks, device=order.device)].cpu()


def _in_noise(moments: Moments) -> Float[Tensor, "N D T"]:
    """How far every draw's mean is from their mean, in deviations of the noise; divided by the root of T."""
    means, noise = moments[..., 0], moments[..., 1].exp().mean(dim=1, keepdim=True)
    apart = (means - means.mean(dim=1, keepdim=True)) / (noise * means.shape[1]).sqrt()
    return apart.transpose(1, 2).contiguous()


def _gains(left: Float[Tensor, "N D T"]) -> Scores:
    """The information of each item's numbers about what is left to know."""
    if left.shape[1] == 1:
        return left.square().sum(dim=(1, 2)).log1p() / 2
    inner = left @ left.transpose(1, 2)
    found: Tensor = torch.linalg.slogdet(torch.eye(left.shape[1]).to(inner) + inner).logabsdet
    return found / 2


def _given(left: Float[Tensor, "N D T"], one: Float[Tensor, " T"]) -> Float[Tensor, "N D T"]:
    """What is left to know once one number is known but for its noise.

    The covariance of the draws becomes I - u u^T / (1 + |u|^2), whose root is I - c u u^T.
    """
    size = one.square().sum()
    if not size > 0:
        return left
    shrink = (1 - (1 / (1 + size)).sqrt()) / size
    return left - (shrink * (left @ one))[..., None] * one

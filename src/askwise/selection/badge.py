"""Ask for large and different gradients: k-means++ over what each item would teach the last layer."""

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.math.entropy import marginal
from askwise.math.kmeans import draw_one
from askwise.seeding import generator
from askwise.selection.order import Ids, shuffled
from askwise.types import Features, LogProbs, Picks

_ROUNDING = 64  # distances this many roundings from 0 are taken for 0


def badge(log_probs: LogProbs, features: Features, *, count: int, seed: int, ids: Ids) -> Picks:
    """Items drawn in proportion to their squared distance, as gradients, to those before (Ash et al. 2020).

    The gradient of the last layer, were the likeliest class true, is (p - e) ⊗ h. It is never
    built: <(p-e) ⊗ h, (p'-e') ⊗ h'> = <p-e, p'-e'> <h, h'>. The first pick has the largest gradient.
    """
    order = shuffled(seed=seed, ids=ids)
    errors, inputs = _errors(log_probs)[order].to(features.dtype), features[order]
    sizes = errors.square().sum(dim=1) * inputs.square().sum(dim=1)
    rng = generator(seed, "badge")
    picks = [int(sizes.argmax())]
    left = torch.full_like(sizes, torch.inf)
    while len(picks) < count:
        one = picks[-1]
        inner = (errors @ errors[one]) * (inputs @ inputs[one])
        both = sizes + sizes[one]
        apart = both - 2 * inner
        apart = torch.where(apart <= both * (_ROUNDING * torch.finfo(both.dtype).eps), 0, apart)
        left = torch.minimum(left, apart)
        left[picks] = 0
        picks.append(draw_one(left, rng) if left.any() else _first_other(picks))
    return order[torch.tensor(picks)]


def _errors(log_probs: LogProbs) -> Float[Tensor, "N E"]:
    """Mean prediction minus its likeliest class, over all sites and classes."""
    mean = torch.cat([marginal(chunk).exp() for chunk in torch.split(log_probs, 1024)])
    hot = torch.zeros_like(mean).scatter_(-1, mean.argmax(dim=-1, keepdim=True), 1)
    return (mean - hot).flatten(start_dim=1)


def _first_other(picks: list[int]) -> int:
    """The first position not picked yet, when all others equal a pick."""
    taken = set(picks)
    return next(position for position in range(len(picks) + 1) if position not in taken)

"""Labels of several items together, and what they tell about the draws.

The labels of i items have C^i configurations. Each is kept as its mass and as the posterior over
the T draws that it would leave behind: one more label only reweighs the draws, so numbers never
shrink towards 0 as a plain product of probabilities does.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

_FLOOR = 1e-30  # a probability of 0 becomes this: it adds nothing, and its logarithm is finite
_NEGLIGIBLE = 1e-7  # nats of uncertainty that may be left out in total
_CELLS = 1 << 18  # predictions held at once: 1 MB in float32, so they stay in the cache


@dataclass(frozen=True)
class Joint:
    """Configurations of the labels of some items: the mass of each, and the posterior it leaves.

    `mean` is the sum of mass times posterior, in float64: ten thousand float32 terms lose digits.
    """

    mass: Float[Tensor, " M"]
    posterior: Float[Tensor, "M T"]
    mean: Float64[Tensor, " T"]


def nothing_known(draws: int, *, like: Tensor) -> Joint:
    """The joint of no items: one configuration, every draw as likely."""
    even = like.new_full((1, draws), 1 / draws)
    return Joint(like.new_ones(1), even, even[0].double())


def extend(
    joint: Joint, probs: Float[Tensor, "T C"], *, limit: int, samples: int, rng: torch.Generator
) -> Joint:
    """The joint with the label of one more item.

    Exact while its configurations number at most `limit`; beyond, `samples` of them stand for all.
    They are drawn by their worth: the mass times the uncertainty left about the draws, which bounds
    what any further label can tell. A configuration that leaves no uncertainty is left out.
    """
    prior, p = joint.posterior.double(), probs.double()
    chance = prior @ p  # of each label, given the configuration so far
    log_terms = torch.xlogy(prior, prior) @ p + prior @ torch.xlogy(p, p)
    worth = joint.mass[:, None] * (torch.xlogy(chance, chance) - log_terms)
    kept, factor = thin(worth.flatten(), limit=limit, samples=samples, rng=rng)
    before, label = kept // p.shape[1], kept % p.shape[1]
    posterior = prior[before] * p.T[label] / chance[before, label][:, None]
    mass = joint.mass[before] * chance[before, label] * factor
    return Joint(mass.to(probs.dtype), posterior.to(probs.dtype), mass @ posterior)


def coarse(joint: Joint) -> Joint:
    """The joint in which configurations with the same likeliest draw are no longer told apart.

    There are at most T of them. Knowing less, they leave more to learn: their gains bound those
    of the joint from above, at a small part of the cost.
    """
    _, groups = torch.unique(joint.posterior.argmax(dim=1), return_inverse=True)
    count = int(groups.max()) + 1 if len(groups) else 0
    mass = joint.mass.new_zeros(count).index_add_(0, groups, joint.mass)
    weighed = joint.posterior * joint.mass[:, None]
    posterior = weighed.new_zeros(count, weighed.shape[1]).index_add_(0, groups, weighed)
    return Joint(mass, posterior / mass[:, None], joint.mean)


def thin(
    worth: Float64[Tensor, " many"], *, limit: int, samples: int, rng: torch.Generator
) -> tuple[Int64[Tensor, " M"], Float64[Tensor, " M"]]:
    """All positions worth anything if they fit the limit, else some, each with a factor for its weight.

    Worth more than a level, a position is kept as it is; of the others as many as fill up
    `samples` are drawn with evenly spaced aims, and raised to the level. Weighted sums stay
    unbiased, and no such rule has less variance (Fearnhead and Clifford 2003).
    """
    kept = (worth * len(worth) > _NEGLIGIBLE).nonzero().squeeze(1)
    worth = worth[kept]
    if len(kept) <= max(limit, samples):
        return kept, torch.ones_like(worth)
    ordered = worth.sort(descending=True).values
    rest = ordered.flip(0).cumsum(dim=0).flip(0)[:samples]  # what remains beside the largest 0, 1, ...
    room = samples - torch.arange(samples, device=worth.device)
    above = int((ordered[:samples] * room <= rest).nonzero()[0])
    level = rest[above] / room[above]
    large, small = (worth > level).nonzero().squeeze(1), (worth <= level).nonzero().squeeze(1)
    start = torch.rand((), dtype=worth.dtype, generator=rng).to(worth.device)
    aims = (torch.arange(samples - len(large), device=worth.device) + start) * level
    drawn = small[torch.searchsorted(worth[small].cumsum(dim=0), aims).clamp_(max=len(small) - 1)]
    factor = torch.cat([torch.ones_like(worth[large]), level / worth[drawn]])
    return kept[torch.cat([large, drawn])], factor


def gains(joint: Joint, probs: Float[Tensor, "n T C"]) -> Float[Tensor, " n"]:
    """What each item's label tells about the draws, beyond the labels in the joint, in nats.

    The mutual information of label and draw under every configuration's posterior, averaged.
    """
    count, draws, classes = probs.shape
    columns = probs.transpose(0, 1).reshape(draws, -1).clamp(min=_FLOOR)
    own = joint.mean @ (columns * columns.log()).double()
    rows = max(64, _CELLS // columns.shape[1])
    predicted, logs = columns.new_empty(2, min(rows, len(joint.mass)), columns.shape[1])
    mixed = torch.zeros_like(own)
    for mass, posterior in zip(
        torch.split(joint.mass, rows), torch.split(joint.posterior, rows), strict=True
    ):
        torch.mm(posterior, columns, out=predicted[: len(mass)])
        torch.log(predicted[: len(mass)], out=logs[: len(mass)])
        mixed += mass @ predicted[: len(mass)].mul_(logs[: len(mass)])
    return (own - mixed).view(count, classes).sum(dim=1).clamp(min=0).to(probs.dtype)

"""Ask for labels that together tell most about the weights (Kirsch et al. 2019)."""

import math
import warnings

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from askwise.errors import InputError, positive
from askwise.math.joint import Joint, coarse, extend, gains, nothing_known
from askwise.seeding import generator
from askwise.selection.order import Ids, shuffled
from askwise.types import LogProbs, Picks, Scores

_SATURATED = 0.9  # of log T: what T draws can tell at most
_FEWEST = 0.1  # of the configurations are kept, however little is left to tell


class SaturationWarning(UserWarning):
    """The draws are all told apart: more labels cannot tell more about them."""


def batchbald(
    log_probs: LogProbs, *, count: int, seed: int, ids: Ids, limit: int = 10_000, samples: int = 2_500
) -> Picks:
    """The greedy batch whose labels have the most mutual information with the weights.

    Exact while the labels of the picks have at most `limit` joint configurations; beyond,
    `samples` of them stand for all. Both fall with what is left to tell about the draws: the error of
    a gain does too. A gain only shrinks as picks are added, so the last known gain of an item bounds
    its next one, and few items are looked at again (Minoux 1978).
    """
    if log_probs.ndim != 3:
        raise InputError(
            f"batchbald takes log_probs [N, T, C], not {list(log_probs.shape)}; it knows no sites"
        )
    positive("limit", limit)
    positive("samples", samples)
    order = shuffled(seed=seed, ids=ids).to(log_probs.device)
    rng = generator(seed, "batchbald")
    joint = nothing_known(log_probs.shape[1], like=log_probs)
    bounds = log_probs.new_full((len(order),), torch.inf)  # of the gains, in the order of the hashes
    picks: list[int] = []
    told: list[float] = []
    while len(picks) < count:
        pick = _greediest(joint, log_probs, order, bounds)
        picks.append(pick)
        told.append(sum(told[-1:]) + float(bounds[pick]))
        bounds[pick] = -torch.inf
        left = max(_FEWEST, 1 - told[-1] / math.log(log_probs.shape[1])) if log_probs.shape[1] > 1 else 1.0
        few = {"limit": math.ceil(left * limit), "samples": math.ceil(left * samples)}
        joint = extend(joint, log_probs[order[pick]].exp(), rng=rng, **few)
    _warn_if_saturated(told, log_probs.shape[1])
    return order[picks].cpu()


def _greediest(joint: Joint, log_probs: LogProbs, order: Int64[Tensor, " N"], bounds: Scores) -> int:
    """The place in `order` of the item with the largest gain; `bounds` become gains where it looked."""
    size = _block(joint, log_probs)
    queue = bounds.sort(descending=True, stable=True).indices
    queue = queue[bounds[queue] > -torch.inf]  # those are picked already
    head, tail = queue[:size], queue[size:]
    bounds[head] = _gains(joint, log_probs, order[head])
    best = bounds[head].max()
    tail = tail[bounds[tail] > best]
    if len(tail) > size and len(joint.mass) > 2 * log_probs.shape[1]:  # else the detour does not pay
        bounds[tail] = torch.minimum(bounds[tail], _gains(coarse(joint), log_probs, order[tail]))
    looked = [head]
    tail = tail[bounds[tail].sort(descending=True, stable=True).indices]
    for block in torch.split(tail, size):
        if not len(block) or bounds[block[0]] <= best:
            break
        bounds[block] = _gains(joint, log_probs, order[block])
        best = torch.maximum(best, bounds[block].max())
        looked.append(block)
    seen = torch.cat(looked)
    return int(seen[bounds[seen] == best].min())  # a tie goes to the first by hash


def _gains(joint: Joint, log_probs: LogProbs, positions: Int64[Tensor, " n"]) -> Float[Tensor, " n"]:
    """The gains of the items at some positions, block by block."""
    blocks = torch.split(positions, _block(joint, log_probs))
    return torch.cat([gains(joint, log_probs[block].exp()) for block in blocks])


def _block(joint: Joint, log_probs: LogProbs) -> int:
    """How many items to look at together: many while configurations are few and memory allows."""
    return max(32, min((1 << 15) // max(1, len(joint.mass)), (1 << 20) // log_probs[0].numel()))


def _warn_if_saturated(told: list[float], draws: int) -> None:
    """Say so if the picks tell nearly as much as `draws` draws can."""
    enough = [score >= _SATURATED * math.log(draws) for score in told]
    if any(enough):
        warnings.warn(
            f"batchbald: after {enough.index(True) + 1} of {len(told)} picks the joint score is within 10 % "
            f"of its ceiling, log({draws} draws) = {math.log(draws):.2f}; later picks are nearly arbitrary: "
            "use more draws or a smaller batch",
            SaturationWarning,
            stacklevel=4,
        )

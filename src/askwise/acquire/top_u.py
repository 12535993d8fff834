"""Ask where the draws disagree about the u best labels."""

import math

from jaxtyping import Float
from torch import Tensor

from askwise.acquire.tags import tag_probs
from askwise.errors import InputError, positive
from askwise.math.entropy import entropy
from askwise.types import LogProbs, Scores, SiteScores


def top_u(log_probs: LogProbs, *, u: int = 1, across_tags: bool = False) -> SiteScores | Scores:
    """Entropy, minus log u, of how the draws share their votes for the u best labels (Loustau 2023).

    Each draw gives 1/u to each of its u best; 0 when all agree, log(C/u) when they spread evenly.
    Counting whole sets of u labels instead would saturate at log T. `across_tags` reads
    [N, T, L, 2] as L tags that are off or on, and ranks the tags: one score for each item.
    """
    ranked = tag_probs(log_probs) if across_tags else log_probs
    if positive("u", u) > ranked.shape[-1]:
        raise InputError(f"u must be at most the number of labels, {ranked.shape[-1]}, not {u}")
    shares = _shares(ranked, u).mean(dim=1)
    # The ceiling of a vote is 1/u, so the entropy is at least log u but for rounding.
    return (entropy(shares.log()) - math.log(u)).clamp(min=0)


def _shares(ranked: Float[Tensor, "N T *sites C"], u: int) -> Float[Tensor, "N T *sites C"]:
    """1/u for each of the u best labels; labels equal to the u-th share what is left for them."""
    last = ranked.topk(u, dim=-1).values[..., -1:]
    above = (ranked > last).to(ranked.dtype)
    equal = (ranked == last).to(ranked.dtype)
    left = u - above.sum(dim=-1, keepdim=True)
    return (above + equal * left / equal.sum(dim=-1, keepdim=True)) / u

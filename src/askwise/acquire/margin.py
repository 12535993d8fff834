"""Ask where the two best answers are closest."""

from askwise.acquire.tags import tag_probs
from askwise.errors import InputError
from askwise.math.entropy import marginal
from askwise.types import LogProbs, Scores, SiteScores


def margin(log_probs: LogProbs, *, across_tags: bool = False) -> SiteScores | Scores:
    """1 - (y1 - y2), of the two largest mean probabilities (Scheffer et al. 2001).

    `across_tags` reads [N, T, L, 2] as L tags that are off or on, and compares the two likeliest
    tags: one score for each item.
    """
    probs = tag_probs(log_probs).mean(dim=1) if across_tags else marginal(log_probs).exp()
    if probs.shape[-1] < 2:
        raise InputError(
            f"margin compares two answers, and there is {probs.shape[-1]}; use another acquisition"
        )
    first, second = probs.topk(2, dim=-1).values.unbind(dim=-1)
    return 1 - (first - second)

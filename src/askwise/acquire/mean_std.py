"""Ask where the draws' probabilities vary most, averaged over the classes."""

from askwise.types import LogProbs, SiteScores


def mean_std(log_probs: LogProbs) -> SiteScores:
    """Standard deviation of p over the T draws, averaged over the classes (Kampffmeyer et al. 2016).

    Divided by T, not T - 1, as the papers print it: with one draw it is 0.
    """
    p = log_probs.exp()
    spread = (p - p.mean(dim=1, keepdim=True)).square().mean(dim=1).sqrt()
    return spread.mean(dim=-1)

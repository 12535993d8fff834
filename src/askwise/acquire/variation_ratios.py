"""Ask where the favourite class is weakest."""

from askwise.math.entropy import marginal
from askwise.types import LogProbs, SiteScores


def variation_ratios(log_probs: LogProbs, *, votes: bool = False) -> SiteScores:
    """1 - the largest mean probability; with `votes`, 1 - the share of draws that vote for the mode.

    The papers print the first form, which is least confidence (Freeman 1965; Gal et al. 2017);
    their code counts votes. A draw whose best classes are equal splits its vote among them.
    """
    if not votes:
        return 1 - marginal(log_probs).amax(dim=-1).exp()
    best = (log_probs == log_probs.amax(dim=-1, keepdim=True)).to(log_probs.dtype)
    return 1 - (best / best.sum(dim=-1, keepdim=True)).mean(dim=1).amax(dim=-1)


def least_confidence(log_probs: LogProbs) -> SiteScores:
    """1 - the largest mean probability: another name for the first form of variation ratios."""
    return variation_ratios(log_probs)

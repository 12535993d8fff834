"""Ask where knowing the label would tell most about the weights."""

from askwise.math.entropy import entropies
from askwise.types import LogProbs, SiteScores


def bald(log_probs: LogProbs) -> SiteScores:
    """Mutual information of label and weights, in nats (Houlsby et al. 2011).

    High where the draws are each sure, and disagree. It is a difference of two entropies, which
    rounding can push below 0 (by about 1e-7 in float32); it is then 0.
    """
    of_mean, of_each = entropies(log_probs)
    return (of_mean - of_each).clamp(min=0)

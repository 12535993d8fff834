"""Ask where knowing the label would tell most about the weights."""

from askwise.math.entropy import entropy, expected_entropy, marginal
from askwise.types import LogProbs, SiteScores


def bald(log_probs: LogProbs) -> SiteScores:
    """Mutual information of label and weights, in nats (Houlsby et al. 2011).

    High where the draws are each sure, and disagree. It is a difference of two entropies, which
    rounding can push below 0 (by about 1e-7 in float32); it is then 0.
    """
    return (entropy(marginal(log_probs)) - expected_entropy(log_probs)).clamp(min=0)

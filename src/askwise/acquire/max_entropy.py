"""Ask where the averaged prediction is most spread out."""

from askwise.math.entropy import entropy, marginal
from askwise.types import LogProbs, SiteScores


def max_entropy(log_probs: LogProbs) -> SiteScores:
    """Entropy of the mean prediction, in nats (Shannon 1948).

    The mean comes first: the mean of the draws' entropies would leave out their disagreement.
    """
    return entropy(marginal(log_probs))

"""Scores of numbers: how far the draws' Gaussians lie apart."""

from askwise.math.moments import variances
from askwise.types import Moments, SiteScores


def variance_of_means(moments: Moments) -> SiteScores:
    """Variance of the draws' means [N, D]: what more labels could remove."""
    return variances(moments).epistemic


def gaussian_bald(moments: Moments) -> SiteScores:
    """Mutual information of value and weights [N, D], with the mixture taken as one Gaussian.

    An upper bound of BALD: no distribution of that variance has more entropy than a Gaussian.
    Rounding below 0 becomes 0.
    """
    return ((variances(moments).total.log() - moments[..., 1].mean(dim=1)) / 2).clamp(min=0)

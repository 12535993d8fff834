"""Dropout as a posterior, and switched off: two ways to predict from the same weights."""

from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior

POINT = {"name": "point"}
MC = {"name": "mc_dropout"}


def as_point(fitted: Fitted) -> Fitted:
    """The same weights with dropout off: what scaling the weights by the keep probability gives."""
    return Fitted(
        fitted.network, as_posterior(POINT), fitted.task, {}, fitted.history, item_shape=fitted.item_shape
    )

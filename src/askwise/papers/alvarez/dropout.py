"""Dropout as a posterior, and switched off: two ways to predict from the same weights."""

from typing import Any

from torch import Tensor

from askwise.bayes.evaluate import evaluate
from askwise.bayes.fitted import Fitted
from askwise.bayes.posteriors import as_posterior
from askwise.engine import open_engine
from askwise.papers.curves import value_of
from askwise.papers.record import Pair
from askwise.seeding import derive

POINT = {"name": "point"}
MC = {"name": "mc_dropout"}


def as_point(fitted: Fitted) -> Fitted:
    """The same weights with dropout off: what scaling the weights by the keep probability gives."""
    return Fitted(
        fitted.network, as_posterior(POINT), fitted.task, {}, fitted.history, item_shape=fitted.item_shape
    )


def both_ways(
    fitted: Fitted, test: tuple[Tensor, Tensor], *, draws: int, seed: int
) -> dict[str, dict[str, Any]]:
    """The measures on test items by MC dropout (`mc`) and with dropout off (`off`)."""
    how: dict[str, Any] = {
        "seed": derive(seed, "papers", "draws"),
        "engine": open_engine("local", processes=1),
    }
    return {
        "mc": evaluate(fitted, test, draws=draws, **how),
        "off": evaluate(as_point(fitted), test, draws=1, **how),
    }


def less(key: str, than: str, entry: str, words: str) -> Pair:
    """That one measure of an entry is below another of the same entry; in points."""
    return Pair(
        ours=entry,
        baseline=0.0,
        measure=lambda row: 100 * (row[key] - row[than]),
        expected="lower",
        words=words,
    )


def less_than(ours: str, other: str, key: str, words: str) -> Pair:
    """That a measure of one entry is below that of another; in points."""
    return Pair(ours=ours, baseline=other, measure=value_of(key, factor=100.0), expected="lower", words=words)

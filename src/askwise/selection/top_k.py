"""The highest scores."""

from askwise.selection.order import Ids, best
from askwise.types import Picks, Scores


def top_k(scores: Scores, *, count: int, seed: int, ids: Ids) -> Picks:
    """The `count` highest scores, best first."""
    return best(scores, count=count, seed=seed, ids=ids)

"""What a label is: how outputs become log-probabilities, how labels are judged and checked."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from askwise.types import LogProbs, Scores, SiteScores


@dataclass(frozen=True)
class Task:
    """One kind of label; adding one is one file and its line in the table of tasks."""

    name: str
    options: dict[str, str]
    log_probs: Callable[[Tensor], LogProbs]
    """Outputs [N, T, ...] of a network to log-probabilities [N, T, *sites, C]."""
    nll: Callable[[Tensor, Tensor], Tensor]
    """Mean negative log-likelihood of labels [N, *sites] under outputs [N, ...]."""
    labels: Callable[[Tensor, int], Tensor]
    """The labels themselves, if they fit this many classes; an error names the first that does not."""
    per_item: Callable[[SiteScores], Scores]
    """One score per item from the scores of its sites."""

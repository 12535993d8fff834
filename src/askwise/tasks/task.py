"""What a label is: how outputs become a predictive distribution, how labels are judged and checked."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from torch import Tensor

from askwise.errors import InputError, choose
from askwise.markup import Html, card, tag
from askwise.references import written
from askwise.types import Scores, SiteScores

_SHOWN = 10
"""Rows of a prediction that a notebook shows."""


@dataclass(frozen=True)
class Prediction:
    """The mean [N, ...] of every item, and how uncertain it is: total = epistemic + aleatoric.

    Classes: mean probabilities [N, *sites, C] and uncertainty in nats [N, *sites]. Numbers: mean values
    [N, D] and uncertainty as variances [N, D].
    """

    mean: Tensor
    total: Tensor
    epistemic: Tensor
    aleatoric: Tensor

    def _repr_html_(self) -> str:
        parts = {"total": self.total, "epistemic": self.epistemic, "aleatoric": self.aleatoric}
        facts = [(name, f"{part.mean():.4g} on average") for name, part in parts.items()]
        title = f"Prediction of {len(self.mean)} items, mean {list(self.mean.shape)}"
        return card(title, facts, self._rows() if self.mean.dim() == 2 else None)

    def _rows(self) -> Html:
        """The first items, each with its mean (at most eight numbers of it) and its uncertainty."""
        heads = [*map(str, range(min(8, self.mean.shape[1]))), "total"]
        rows = [tag("tr", *(tag("th", head) for head in heads))]
        for mean, total in zip(self.mean[:_SHOWN], self.total[:_SHOWN], strict=True):
            numbers = [*mean[:8].tolist(), float(total.mean())]
            rows.append(tag("tr", *(tag("td", f"{number:.3f}") for number in numbers)))
        return tag("table", tag("tbody", *rows))


@runtime_checkable
class Likelihood(Protocol):
    """Negative log-likelihood of labels [N, *sites] under outputs [N, ...], averaged over the items."""

    def __call__(self, outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean; `weights`, as the task's `class_weights` gives them, count some classes more."""
        ...


@runtime_checkable
class Curvature(Protocol):
    """Outputs [N, E, *sites] to (d, u), shaped alike: the Fisher information of a label is diag(d) - u u^T.

    At every site for itself, where there are sites.
    """

    def __call__(
        self, outputs: Tensor, labels: Tensor | None = None, weights: Tensor | None = None, /
    ) -> tuple[Tensor, Tensor]:
        """The two parts; with labels as they count in the likelihood: unknown ones nothing."""
        ...


@runtime_checkable
class Meter(Protocol):
    """Measures predictions that arrive batch by batch."""

    def update(self, mean: Tensor, labels: Tensor) -> None:
        """Take in mean predictions [n, ...] and their labels."""
        ...

    def compute(self) -> dict[str, Any]:
        """Every metric by name: numbers, and lists with one entry per class."""
        ...


@dataclass(frozen=True, repr=False)
class Task:
    """One kind of label; adding one is one file and its line in the table of tasks.

    A predictive distribution is a tensor: log-probabilities [N, T, *sites, C], or moments
    [N, T, D, 2], mean and log-variance of a Gaussian.
    """

    name: str
    options: dict[str, Any]
    supplies: Literal["log_probs", "moments"]
    predictive: Callable[[Tensor], Tensor]
    """Outputs [N, T, ...] of a network to the predictive distribution of every draw."""
    nll: Likelihood
    labels: Callable[[Tensor, tuple[int, ...]], Tensor]
    """The labels, if they fit outputs of this shape per item; an error names the first that does not."""
    known: Callable[[Tensor], Tensor]
    """Which items [N] have a label that is known, at one site at least; the others count nowhere."""
    summary: Callable[[Tensor], Prediction]
    """Mean and uncertainty of a predictive distribution."""
    log_likelihood: Callable[[Tensor, Tensor], SiteScores]
    """Log of the predictive density, averaged over the draws, at labels [N, *sites]; NaN where unknown."""
    curvature: Curvature
    shares: Callable[[Tensor, Tensor | None], Tensor]
    """How much every label [N, *sites] counts in the likelihood under class weights; 0 where unknown."""
    per_item: Callable[[SiteScores], Scores]
    """One score per item from the scores of its sites."""
    metrics: Callable[[], Meter]
    """A new meter for mean predictions."""
    class_weights: Callable[[Tensor, tuple[int, ...]], Tensor]
    """The weights that make rare classes count as much as common ones, for outputs of this shape."""
    chances: Callable[[Tensor], Tensor]
    """How likely each example [N] is to be drawn, so that all classes are seen equally often."""
    made_of: Literal["classes", "tags", "numbers"] = "classes"
    """What a plan calls the names that labels are made of."""
    measures: tuple[str, ...] = ("nll",)
    """The measures that are single numbers and say how good a model is; the first is the one to look at."""
    higher: bool = True
    """Whether more of the first measure is better."""
    refit: Callable[[Tensor], "Task"] | None = None
    """The task with what it takes from the labels: the units of numbers."""
    inner: tuple["Task", Callable[[Tensor], Tensor]] | None = None
    """The task as a training sees it, and its labels for that; where it is another than this."""
    rows: int | None = None
    """The axis of outputs [N, T, ...] that is the first of the sites, where these may be cut."""
    scoring: Mapping[str, Any] = field(default_factory=dict)
    """Options given to the acquisitions that have them, unless asked otherwise."""

    def __repr__(self) -> str:
        """As it is written: `aw.tasks.regression(tau=2.0)`, with the options that are on."""
        return written(f"aw.tasks.{self.name}", {k: v for k, v in self.options.items() if v}, {})

    def fitted_to(self, labels: Tensor) -> "Task":
        """The task with what it takes from the labels that are learned from; most take nothing."""
        return self if self.refit is None else self.refit(labels)

    def inside(self, labels: Tensor) -> tuple["Task", Tensor]:
        """The task and the labels as a training sees them: numbers are standardised there."""
        if self.inner is None:
            return self, labels
        task, change = self.inner
        return task, change(labels)


def reduction(reduce: str, choices: Iterable[str], *, top: float = 1.0) -> Callable[[SiteScores], Scores]:
    """The mean, sum or maximum over the sites, or the mean of the `top` fraction of them.

    Scores that are one per item already stay as they are.
    """
    choose("reduce", reduce, choices)
    if isinstance(top, bool) or not isinstance(top, int | float) or not 0 < top <= 1:
        raise InputError(f"top must be a fraction above 0 and at most 1, not {top!r}")

    def per_item(scores: SiteScores) -> Scores:
        if scores.ndim == 1:
            return scores
        flat = scores.flatten(1)
        if reduce == "mean":
            return flat.mean(dim=1)
        if reduce == "sum":
            return flat.sum(dim=1)
        count = 1 if reduce == "max" else math.ceil(top * flat.shape[1])
        return flat.topk(count, dim=1).values.mean(dim=1)

    return per_item

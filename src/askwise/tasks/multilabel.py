"""Any number of tags per item, each off or on."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from askwise.errors import InputError
from askwise.math.entropy import marginal
from askwise.tasks import categorical
from askwise.tasks.meters import TagMeter
from askwise.tasks.task import Task, reduction
from askwise.types import LogProbs, SiteScores

_UNKNOWN = -1
_PRESENT = 0.5  # a soft tag counts as present from here


def multilabel(*, reduce: str = "mean", threshold: float = 0.5) -> Task:
    """The task: a network gives one logit per tag [N, L], labels are 0 or 1 for each [N, L].

    A label between 0 and 1 is soft, and -1 is unknown and ignored; an item without a known tag counts
    nowhere. The tags of an item add up in
    its likelihood. Its score is the mean over the tags, so that it does not grow with their number;
    or their sum or max. Scores that rank (margin, top_u) look across the tags. A tag is predicted
    when it is likelier than `threshold`.

    >>> tags = torch.stack([x[:, 0] > 0, x[:, 1] > 0], 1).float()
    >>> tagger = aw.fit(network, (x, tags), task=aw.tasks.multilabel(), training=short, seed=0)
    >>> aw.predict(tagger, x[:3], draws=10).mean.shape
    torch.Size([3, 2, 2])
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold < 1:
        raise InputError(f"threshold must be between 0 and 1, not {threshold!r}")
    return Task(
        name="multilabel",
        options={"reduce": reduce, "threshold": threshold},
        supplies="log_probs",
        predictive=_predictive,
        nll=_nll,
        labels=_check_labels,
        known=lambda labels: (labels != _UNKNOWN).any(dim=1),
        summary=categorical.summary,
        log_likelihood=_log_likelihood,
        curvature=_curvature,
        shares=_shares,
        per_item=reduction(reduce, ("mean", "sum", "max")),
        metrics=lambda: TagMeter(threshold=threshold),
        measures=("top_1", "top_5", "recall_micro", "f1_micro", "f1_macro", "nll"),
        class_weights=lambda labels, _: _weights(labels),
        chances=lambda labels: categorical.chances_of_tags(labels >= _PRESENT),
        made_of="tags",
        scoring={"across_tags": True},
    )


def _predictive(outputs: Tensor) -> LogProbs:
    """Log-probabilities [N, T, L, 2] of off and on."""
    if outputs.ndim != 3:
        found = [outputs.shape[0], *outputs.shape[2:]]
        raise InputError(f"multilabel needs a network that gives one logit per tag [N, L], not {found}")
    logits = outputs.movedim(0, -1)  # the items last, as the entropies reduce fastest
    return torch.stack([F.logsigmoid(-logits), F.logsigmoid(logits)], dim=-2).movedim(-1, 0)


def _nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    unknown = labels == _UNKNOWN
    target = labels.to(outputs.dtype).masked_fill(unknown, 0)
    weights = None if weights is None else weights.to(outputs)
    each = F.binary_cross_entropy_with_logits(outputs, target, pos_weight=weights, reduction="none")
    return each.masked_fill(unknown, 0).sum() / (~unknown).any(dim=1).sum().clamp(min=1)


def _log_likelihood(log_probs: LogProbs, labels: Float[Tensor, "N L"]) -> SiteScores:
    off, on = marginal(log_probs).unbind(dim=-1)
    return torch.lerp(off, on, labels.to(on.dtype)).masked_fill(labels == _UNKNOWN, torch.nan)


def _curvature(
    outputs: Tensor, labels: Tensor | None = None, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    p = outputs.sigmoid()
    d = p * (1 - p)
    if labels is not None:
        d = d * _shares(labels, weights).to(d)
    return d, torch.zeros_like(d)


def _shares(labels: Tensor, weights: Tensor | None) -> Tensor:
    """How much every tag counts: where it is present its weight, where it is absent 1."""
    known = labels.clamp(min=0).float()
    more = torch.ones_like(known) if weights is None else 1 + known * (weights.to(known) - 1)
    return more.masked_fill(labels == _UNKNOWN, 0)


def _weights(labels: Float[Tensor, "N L"]) -> Float[Tensor, " L"]:
    """How much more than absence the presence of each tag counts; 0 for a tag that is never present."""
    known = labels.clamp(min=0)
    present = known.sum(dim=0)
    absent = (labels != _UNKNOWN).sum(dim=0) - present
    ratio = torch.where(present > 0, absent / present, 0.0)
    return torch.where((absent == 0) & (present > 0), 1.0, ratio)


def _check_labels(labels: Tensor, shape: tuple[int, ...]) -> Tensor:
    """0 or 1, something between, or -1, for each of the L tags of every item."""
    tags = shape[-1]
    if labels.is_complex() or labels.ndim != 2:
        raise InputError(f"labels must be 0 or 1 for each tag [N, {tags}], not {list(labels.shape)}")
    if labels.shape[1] != tags:
        raise InputError(f"labels have {labels.shape[1]} tags, and the network gives {tags}; make them equal")
    known = labels.float()
    bad = ~(((known >= 0) & (known <= 1)) | (known == _UNKNOWN))
    if bad.any():
        item, tag = bad.nonzero()[0].tolist()
        raise InputError(
            f"tag {tag} of the item at position {item} is {labels[item, tag].item():g}; a tag is 0 or 1, "
            "a probability between, or -1 for unknown"
        )
    return known

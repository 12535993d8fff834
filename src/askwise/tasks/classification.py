"""One class per item."""

import torch
from torch import Tensor, nn

from askwise.errors import InputError, choose
from askwise.math.links import log_softmax, log_softplus
from askwise.tasks import categorical
from askwise.tasks.meters import ClassMeter
from askwise.tasks.task import Task
from askwise.types import LogProbs

_LINKS = {"softmax": log_softmax, "softplus": log_softplus}
_TOLERANCE = 1e-3


def classification(*, link: str = "softmax", ignore: int | None = None) -> Task:
    """The task: labels are whole numbers [N], or soft ones, float rows [N, C] that sum to one.

    `link="softplus"` normalises softplus outputs as Shridhar et al. 2019 do. Items with the label
    `ignore` are neither learned from nor measured.

    >>> aw.fit(network, (x, y), task=aw.tasks.classification(), training=short, seed=0).task.name
    'classification'
    """
    to_log_probs = _LINKS[choose("link", link, _LINKS)]

    def predictive(outputs: Tensor) -> LogProbs:
        if outputs.ndim != 3:
            found = [outputs.shape[0], *outputs.shape[2:]]
            raise InputError(f"classification needs a network that gives logits [N, C], not {found}")
        if outputs.shape[-1] < 2:
            raise InputError(
                "classification needs a network with one output for each class, at least 2, and this has 1"
            )
        return to_log_probs(outputs)

    def nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        log_probs = to_log_probs(outputs)
        if not labels.is_floating_point():
            return categorical.nll(log_probs, labels, weights, ignore=ignore)
        share = labels if weights is None else labels * weights
        return -(share * log_probs).sum(dim=1).mean()

    def curvature(
        outputs: Tensor, labels: Tensor | None = None, weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        d, u = _softmax_curvature(outputs) if link == "softmax" else _softplus_curvature(outputs)
        if labels is None:
            return d, u
        return categorical.counted(d, u, shares(labels, weights).to(d)[:, None])

    def shares(labels: Tensor, weights: Tensor | None) -> Tensor:
        return _shares(labels, weights, ignore)

    return Task(
        name="classification",
        options={"link": link, "ignore": ignore},
        supplies="log_probs",
        predictive=predictive,
        nll=nll,
        labels=lambda labels, shape: _check_labels(labels, shape[-1], ignore),
        known=lambda labels: _known(labels, ignore),
        summary=categorical.summary,
        log_likelihood=lambda found, labels: categorical.log_likelihood(found, labels, ignore=ignore),
        curvature=curvature,
        shares=shares,
        per_item=lambda scores: scores,
        metrics=lambda: ClassMeter(ignore=ignore),
        measures=("accuracy", "nll", "ece", "brier"),
        class_weights=lambda labels, shape: categorical.weights_of(_counts(labels, shape[-1], ignore)),
        chances=lambda labels: _chances(labels, ignore),
    )


def _softmax_curvature(outputs: Tensor) -> tuple[Tensor, Tensor]:
    p = outputs.softmax(dim=-1)
    return p, p


def _softplus_curvature(outputs: Tensor) -> tuple[Tensor, Tensor]:
    """With p = s / S, s = softplus(o) and S its sum: dp_c/do_k = (sigmoid(o_k) / S) (1[c = k] - p_c)."""
    values = nn.functional.softplus(outputs)
    slope = outputs.sigmoid() / values.sum(dim=-1, keepdim=True)
    return slope * outputs.sigmoid() / values, slope


def _known(labels: Tensor, ignore: int | None) -> Tensor:
    return (
        torch.ones(len(labels), dtype=torch.bool) if labels.ndim == 2 else categorical.known(labels, ignore)
    )


def _shares(labels: Tensor, weights: Tensor | None, ignore: int | None) -> Tensor:
    """How much every item [N] counts in the likelihood."""
    if labels.is_floating_point():
        return labels.new_ones(len(labels)) if weights is None else labels @ weights.to(labels)
    return categorical.shares(labels, weights, ignore=ignore)


def _counts(labels: Tensor, classes: int, ignore: int | None) -> Tensor:
    return (
        labels.sum(dim=0)
        if labels.is_floating_point()
        else categorical.class_counts(labels, classes, ignore=ignore)
    )


def _chances(labels: Tensor, ignore: int | None) -> Tensor:
    if labels.is_floating_point():
        counts = labels.sum(dim=0)
        return torch.where(counts > 0, labels / counts, 0.0).sum(dim=1)
    return categorical.chances_of_classes(labels, ignore=ignore)


def _check_labels(labels: Tensor, classes: int, ignore: int | None) -> Tensor:
    """Whole numbers from 0 to classes - 1, one per item; or a distribution over the classes for each."""
    if labels.is_floating_point() and labels.ndim == 2:
        return _check_soft(labels, classes)
    if labels.is_floating_point() or labels.is_complex():
        dtype = str(labels.dtype).removeprefix("torch.")
        raise InputError(f"labels must be whole numbers from 0 to {classes - 1}, not {dtype}; use y.long()")
    if labels.ndim != 1:
        raise InputError(
            f"labels must have one axis [N], not {list(labels.shape)}; for one-hot rows use y.argmax(1), "
            "for several tags per item task='multilabel', for masks task='segmentation'"
        )
    labels = labels.long()
    outside = (labels < 0) | (labels >= classes)
    if ignore is not None:
        outside &= labels != ignore
    if outside.any():
        at = int(outside.nonzero()[0])
        raise InputError(
            f"label {int(labels[at])} at position {at} is outside the {classes} classes 0 to {classes - 1}"
        )
    return labels


def _check_soft(labels: Tensor, classes: int) -> Tensor:
    if labels.shape[1] != classes:
        raise InputError(
            f"soft labels have {labels.shape[1]} columns, and the network tells {classes} classes apart"
        )
    bad = ~(labels >= 0).all(dim=1)  # and so NaN
    if bad.any():
        raise InputError(f"row {int(bad.nonzero()[0])} of the soft labels is not made of probabilities")
    sums = labels.sum(dim=1)
    off = ((sums - 1).abs() > _TOLERANCE).nonzero()
    if len(off):
        at = int(off[0])
        raise InputError(
            f"row {at} of the soft labels sums to {float(sums[at]):g}, not to 1; "
            "for several tags per item use task='multilabel'"
        )
    return labels.float()

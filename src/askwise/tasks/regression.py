"""Numbers with Gaussian noise around them."""

import math

import torch
from torch import Tensor

from askwise.errors import InputError, above_zero
from askwise.math import moments as gaussian
from askwise.tasks.meters import NumberMeter
from askwise.tasks.task import Prediction, Task
from askwise.types import Moments


def regression(*, tau: float | None = None) -> Task:
    """The task; `tau` is the precision of the noise, learned by the network if it is not given.

    With tau the network gives means [N, D]. Without, it gives [N, 2D]: the means, then the
    log-variances; `aw.nets.homoscedastic(network)` adds one learned log-variance per number. The
    numbers of an item add up in its likelihood; its score is their mean.
    """
    fixed = None if tau is None else -math.log(above_zero("tau", tau))

    def predictive(outputs: Tensor) -> Moments:
        found = [outputs.shape[0], *outputs.shape[2:]]
        if outputs.ndim != 3:
            raise InputError(f"regression needs a network that gives numbers [N, D], not {found}")
        if fixed is None and found[1] % 2:
            raise InputError(
                f"regression with learned noise needs means and log-variances [N, 2D], not {found}; "
                "add them by aw.nets.homoscedastic(network), or fix the noise by regression(tau=...)"
            )
        return _moments(outputs, fixed)

    def nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        if weights is not None:
            _no_classes(labels)
        found = _moments(outputs, fixed)
        return -gaussian.log_density(found, _columns(labels).to(found)).sum(dim=-1).mean()

    def check(labels: Tensor, shape: tuple[int, ...]) -> Tensor:
        return _check_labels(labels, shape, learned=fixed is None)

    def curvature(
        outputs: Tensor, _labels: Tensor | None = None, _weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        found = _moments(outputs, fixed)
        precision = (-found[..., 1]).exp()
        if fixed is not None:
            return precision, torch.zeros_like(precision)
        both = torch.cat([precision, torch.full_like(precision, 0.5)], dim=-1)
        return both, torch.zeros_like(both)

    return Task(
        name="regression",
        options={"tau": tau},
        supplies="moments",
        predictive=predictive,
        nll=nll,
        labels=check,
        known=lambda labels: torch.ones(len(labels), dtype=torch.bool),
        summary=_summary,
        log_likelihood=lambda found, labels: gaussian.log_likelihood(found, _columns(labels).to(found)),
        curvature=curvature,
        per_item=lambda scores: scores.mean(dim=-1),
        metrics=NumberMeter,
        class_weights=lambda labels, _: _no_classes(labels),
        chances=_no_classes,
    )


def _no_classes(labels: Tensor) -> Tensor:
    raise InputError(f"regression has no classes to balance in its {len(labels)} targets; leave balance out")


def _moments(outputs: Tensor, fixed: float | None) -> Tensor:
    """Mean and log-variance, side by side on a new last axis."""
    if fixed is not None:
        return torch.stack([outputs, torch.full_like(outputs, fixed)], dim=-1)
    return torch.stack(outputs.chunk(2, dim=-1), dim=-1)


def _summary(found: Moments) -> Prediction:
    uncertainty = gaussian.variances(found)
    return Prediction(
        found[..., 0].mean(dim=1), uncertainty.total, uncertainty.epistemic, uncertainty.aleatoric
    )


def _columns(labels: Tensor) -> Tensor:
    """One number per item may be written [N] as well as [N, 1]."""
    return labels[:, None] if labels.ndim == 1 else labels


def _check_labels(labels: Tensor, shape: tuple[int, ...], *, learned: bool) -> Tensor:
    """Finite numbers, as many per item as the network has means."""
    if labels.is_complex() or labels.ndim not in (1, 2):
        raise InputError(f"targets must be real numbers [N] or [N, D], not {list(labels.shape)}")
    outputs, wanted = shape[-1], _columns(labels).shape[1]
    if outputs != (2 * wanted if learned else wanted):
        advice = (
            f"{2 * wanted} (means, then log-variances); add them by aw.nets.homoscedastic(network), or fix "
            "the noise by regression(tau=...)"
            if learned
            else f"{wanted}"
        )
        raise InputError(f"the network gives {outputs} numbers per item and should give {advice}")
    bad = (~_columns(labels).isfinite()).any(dim=1).nonzero()
    if len(bad):
        raise InputError(f"the target at position {int(bad[0])} is not finite; leave that item out")
    return labels if labels.is_floating_point() else labels.float()

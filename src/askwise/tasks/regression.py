"""Numbers with Gaussian noise around them."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from askwise.errors import InputError, above_zero
from askwise.math import moments as gaussian
from askwise.tasks.meters import NumberMeter
from askwise.tasks.task import Prediction, Task
from askwise.types import Moments

_CONSTANT = 1e-9  # a deviation below this share of the mean is rounding
_FAR = 10.0  # from unit scale


class ScaleWarning(UserWarning):
    """Targets are far from unit scale, and are learned as they are."""


def regression(
    *,
    tau: float | None = None,
    standardise: bool = True,
    centre: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
) -> Task:
    """The task; `tau` is the precision of the noise, learned by the network if it is not given.

    With tau the network gives means [N, D]. Without, it gives [N, 2D]: the means, then the
    log-variances; `aw.nets.homoscedastic(network)` adds one learned log-variance per number. The
    numbers of an item add up in its likelihood; its score is their mean.

    Targets are standardised inside the fit: the network learns (y - centre) / scale, by default with
    mean and deviation of the labels, which are then part of the task and of the saved model.
    Predictions, metrics and tau are in the units of the targets.

    >>> numbers = 100 + x[:, :1]  # learned at unit scale, told in their own
    >>> means = aw.nets.mlp(4, 1, hidden=(16,))
    >>> model = aw.fit(means, (x, numbers), task=aw.tasks.regression(tau=1.0), training=short, seed=0)
    >>> aw.predict(model, x[:3], draws=10).mean.shape
    torch.Size([3, 1])
    """
    options = {
        "tau": tau,
        "standardise": bool(standardise),
        "centre": _listed("centre", centre),
        "scale": _listed("scale", scale),
    }
    if (centre is None) != (scale is None):
        raise InputError("centre and scale belong together; give both, or leave them to the fit")
    if centre is None or scale is None:
        plain = _plain(None if tau is None else -math.log(above_zero("tau", tau)))
        return replace(plain, options=options, refit=lambda labels: _refitted(options, labels))
    return _in_units(torch.tensor(centre).double(), torch.tensor(scale).double(), tau, options)


def _refitted(options: Mapping[str, Any], labels: Tensor) -> Task:
    """The task in the units of these labels; a warning where they should have been and were not."""
    numbers = _columns(labels).double().cpu()
    centre, spread = numbers.mean(dim=0), numbers.std(dim=0, correction=0)
    spread = torch.where(spread > _CONSTANT * (1 + centre.abs()), spread, 1.0)
    if options["standardise"]:
        return regression(**{**options, "centre": centre.tolist(), "scale": spread.tolist()})
    if bool(((spread > _FAR) | (spread < 1 / _FAR) | (centre.abs() > _FAR)).any()):
        warnings.warn(
            f"the targets have mean {centre[0].item():.3g} and deviation {spread[0].item():.3g}, and are "
            "learned as they are; leave standardise=False out, or bring them near mean 0 and deviation 1",
            ScaleWarning,
            stacklevel=4,
        )
    return replace(regression(**options), refit=None)


def _in_units(
    centre: Float64[Tensor, " D"], scale: Float64[Tensor, " D"], tau: float | None, options: dict[str, Any]
) -> Task:
    """The task whose network works in units of its own."""
    if centre.shape != scale.shape or not bool((scale > 0).all()):
        raise InputError(f"scale must be one number above 0 for each centre, not {scale.tolist()}")
    logs = scale.log()
    fixed = None if tau is None else (-math.log(above_zero("tau", tau)) - 2 * logs).float()
    inner = _plain(fixed)

    def change(labels: Tensor) -> Tensor:
        numbers = _columns(labels)
        if numbers.shape[1] != len(centre):
            raise InputError(f"targets have {numbers.shape[1]} numbers, and the task's units {len(centre)}")
        return ((numbers.double() - centre.to(numbers.device)) / scale.to(numbers.device)).float()

    def predictive(outputs: Tensor) -> Moments:
        mean, log_variance = inner.predictive(outputs).unbind(dim=-1)
        if mean.shape[-1] != len(centre):
            raise InputError(
                f"the network gives {mean.shape[-1]} numbers and has learned {len(centre)}; "
                "for outputs of any size use regression(standardise=False)"
            )
        own = [part.to(mean) for part in (scale, centre, 2 * logs)]
        return torch.stack([mean * own[0] + own[1], log_variance + own[2]], dim=-1)

    def nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        return inner.nll(outputs, change(labels), weights) + logs.sum().to(outputs)

    return replace(
        inner,
        options=options,
        predictive=predictive,
        nll=nll,
        inner=(replace(inner, options=options), change),
    )


def _plain(fixed: float | Float[Tensor, " D"] | None) -> Task:
    """The task with targets as they are; `fixed` is the log-variance of the noise."""

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
        options={},
        supplies="moments",
        predictive=predictive,
        nll=nll,
        labels=check,
        known=lambda labels: torch.ones(len(labels), dtype=torch.bool),
        summary=_summary,
        log_likelihood=lambda found, labels: gaussian.log_likelihood(found, _columns(labels).to(found)),
        curvature=curvature,
        shares=lambda labels, _: torch.ones(len(labels)),
        per_item=lambda scores: scores.mean(dim=-1),
        metrics=NumberMeter,
        class_weights=lambda labels, _: _no_classes(labels),
        chances=_no_classes,
        made_of="numbers",
        measures=("rmse", "log_likelihood"),
        higher=False,
    )


def _listed(name: str, given: Sequence[float] | None) -> list[float] | None:
    found = None if given is None else [float(value) for value in given]
    if found is not None and not all(map(math.isfinite, found)):
        raise InputError(f"{name} must be finite numbers, one for each target, not {found}")
    return found


def _no_classes(labels: Tensor) -> Tensor:
    raise InputError(f"regression has no classes to balance in its {len(labels)} targets; leave balance out")


def _moments(outputs: Tensor, fixed: float | Tensor | None) -> Tensor:
    """Mean and log-variance, side by side on a new last axis."""
    if fixed is not None:
        noise = torch.as_tensor(fixed).to(outputs).expand_as(outputs)
        return torch.stack([outputs, noise], dim=-1)
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

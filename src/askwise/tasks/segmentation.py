"""A class for every pixel."""

import torch
from torch import Tensor

from askwise.errors import InputError
from askwise.math.links import log_softmax
from askwise.tasks import categorical
from askwise.tasks.meters import PixelMeter
from askwise.tasks.task import Task, reduction
from askwise.types import LogProbs


def segmentation(*, ignore: int | None = None, reduce: str = "mean", top: float = 0.1) -> Task:
    """The task: a network gives logits [N, C, H, W], labels are masks [N, H, W] of whole numbers.

    Pixels with the label `ignore` are neither learned from nor measured. An image counts as one
    label, the mean over its pixels: they are anything but independent. An item's score is the mean
    over its pixels, their max, or by `reduce="top"` the mean of the `top` fraction.

    >>> scenes, masks = aw.data.street_scenes(4, rng=torch.Generator().manual_seed(0), size=(16, 16))
    >>> pixels = torch.nn.Conv2d(3, len(aw.data.STREET_CLASSES), 1)
    >>> model = aw.fit(pixels, (scenes, masks), task=aw.tasks.segmentation(), training=short, seed=0)
    >>> aw.predict(model, scenes, draws=5).mean.shape
    torch.Size([4, 16, 16, 6])
    """

    def nll(outputs: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        return categorical.nll(outputs.log_softmax(dim=1), labels, weights, ignore=ignore)

    def curvature(
        outputs: Tensor, labels: Tensor | None = None, weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        _check_outputs(outputs)
        p = outputs.softmax(dim=1)
        if labels is None:
            return categorical.counted(p, p, torch.full_like(p[:, :1], 1 / p[0, 0].numel()))
        share = shares(labels, weights).to(p)
        sites = categorical.known(labels, ignore).sum(dim=(1, 2), keepdim=True).clamp(min=1)
        return categorical.counted(p, p, (share / sites)[:, None])

    def shares(labels: Tensor, weights: Tensor | None) -> Tensor:
        return categorical.shares(labels, weights, ignore=ignore)

    def weights_of(labels: Tensor, shape: tuple[int, ...]) -> Tensor:
        return categorical.weights_of(categorical.class_counts(labels, shape[0], ignore=ignore))

    return Task(
        name="segmentation",
        options={"ignore": ignore, "reduce": reduce, "top": top},
        supplies="log_probs",
        predictive=_predictive,
        nll=nll,
        labels=lambda labels, shape: _check_labels(labels, shape, ignore),
        known=lambda labels: categorical.known(labels, ignore).flatten(1).any(dim=1),
        summary=categorical.summary,
        log_likelihood=lambda found, labels: categorical.log_likelihood(found, labels, ignore=ignore),
        curvature=curvature,
        shares=shares,
        per_item=reduction(reduce, ("mean", "max", "top"), top=top),
        metrics=lambda: PixelMeter(ignore=ignore),
        measures=("mean_iou", "class_accuracy", "accuracy", "nll"),
        class_weights=weights_of,
        chances=_no_chances,
        rows=3,
    )


def _predictive(outputs: Tensor) -> LogProbs:
    """Log-probabilities [N, T, H, W, C]."""
    _check_outputs(outputs[:, 0])
    return log_softmax(outputs.movedim(2, -1))


def _check_outputs(outputs: Tensor) -> None:
    if outputs.ndim != 4:
        found = list(outputs.shape)
        raise InputError(f"segmentation needs a network that gives logits [N, C, H, W], not {found}")


def _no_chances(labels: Tensor) -> Tensor:
    raise InputError(
        f"balance='resample' draws items by their class, and masks {list(labels.shape)} have many in one; "
        "use balance='weights'"
    )


def _check_labels(labels: Tensor, shape: tuple[int, ...], ignore: int | None) -> Tensor:
    """Whole numbers from 0 to classes - 1 for every pixel; of whatever type, since masks are large."""
    classes, *size = shape
    if labels.is_floating_point() or labels.is_complex():
        dtype = str(labels.dtype).removeprefix("torch.")
        raise InputError(f"masks must be whole numbers from 0 to {classes - 1}, not {dtype}; use y.long()")
    if labels.ndim != 3:
        raise InputError(f"masks must have the axes [N, H, W], not {list(labels.shape)}")
    if list(labels.shape[1:]) != size:
        raise InputError(
            f"masks are {labels.shape[1]} x {labels.shape[2]} and the network's outputs "
            f"{size[0]} x {size[1]}; bring them to one size"
        )
    for item, mask in enumerate(labels):
        wide = mask.long()  # a byte cannot be compared with every number
        outside = (wide < 0) | (wide >= classes)
        if ignore is not None:
            outside &= wide != ignore
        if outside.any():
            row, column = outside.nonzero()[0].tolist()
            found = int(mask[row, column])
            raise InputError(
                f"label {found} at row {row}, column {column} of the mask at position {item} is outside "
                f"the {classes} classes 0 to {classes - 1}; for unknown pixels say ignore={found}"
            )
    return labels

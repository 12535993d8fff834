"""Meters of mean predictions: a task makes a new one, and feeds it batch by batch.

Importing torchmetrics takes seconds, so it waits until a meter needs it; counting one class per
item does not.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from askwise.tasks.categorical import known
from askwise.tasks.counts import bins, calibration_error, confusion, ious, mean_of, recalls

_TOP = (1, 5)


class ClassMeter:
    """Accuracy, calibration, Brier score, recall of every class; soft labels count as their likeliest class.

    Beside them what a report draws: per bin of confidence [items, mean confidence, accuracy], and
    the confusion matrix [true][guessed].
    """

    def __init__(self, *, ignore: int | None = None) -> None:
        self._ignore = ignore
        self._seen: list[tuple[Tensor, ...]] = []
        self._classes = 0

    def update(self, mean: Float[Tensor, "N C"], labels: Tensor) -> None:
        """Take in mean probabilities and labels [N], or soft ones [N, C]."""
        probs, labels, self._classes = mean.double().cpu(), labels.cpu(), mean.shape[1]
        if labels.is_floating_point():
            truth, hot = labels.argmax(dim=1), labels
        else:
            own = known(labels, self._ignore)
            probs, truth = probs[own], labels[own].long()
            hot = F.one_hot(truth, self._classes)
        confidence, guess = probs.max(dim=1)
        self._seen.append((confidence, guess, truth, (probs - hot).square().sum(dim=1)))

    def compute(self) -> dict[str, Any]:
        """Every metric by name."""
        confidence, guess, truth, squares = (torch.cat(part) for part in zip(*self._seen, strict=True))
        found = bins(confidence, guess == truth)
        counts = confusion(guess, truth, self._classes)
        return {
            "accuracy": (guess == truth).double().mean().item(),
            "ece": calibration_error(found),
            "brier": squares.mean().item(),
            "bins": found,
            "confusion": counts.tolist(),
            "recall": recalls(counts),
        }


class TagMeter:
    """Rank and threshold measures of tags; unknown tags (-1) take no part.

    `top_1` is the share of items whose likeliest tag is among their true tags, `top_5` of those with
    a true tag among their five likeliest, both of the items that have a true tag. `recall_micro` and
    `f1_micro` count all tags of all items together, `f1_macro` is the mean over the tags of their
    own F1; a tag is predicted above the threshold and true from one half.
    """

    def __init__(self, *, threshold: float) -> None:
        self._threshold = threshold
        self._hits = dict.fromkeys(_TOP, 0)
        self._tagged = 0
        self._metrics: Any = None

    def update(self, mean: Float[Tensor, "N L 2"], labels: Float[Tensor, "N L"]) -> None:
        """Take in mean probabilities of off and on, and labels."""
        probs, labels = mean[..., 1].clamp(0, 1).cpu(), labels.cpu()
        unknown = labels < 0
        truth = (labels >= 0.5).long().masked_fill(unknown, -1)
        if self._metrics is None:
            self._metrics = self._made(probs.shape[1])
        self._metrics.update(probs, truth)
        ranked = probs.masked_fill(unknown, -1).argsort(dim=1, descending=True, stable=True)
        right = (truth == 1).gather(1, ranked)
        self._tagged += int(right.any(dim=1).sum())
        for top in _TOP:
            self._hits[top] += int(right[:, :top].any(dim=1).sum())

    def compute(self) -> dict[str, Any]:
        """Every metric by name."""
        found = self._metrics.compute()
        true, _, _, missed, _ = found.pop("counts").T.tolist()
        return {
            **{f"top_{top}": hits / max(1, self._tagged) for top, hits in self._hits.items()},
            **{name: value.item() for name, value in found.items()},
            "recall": [
                hit / (hit + miss) if hit + miss else None for hit, miss in zip(true, missed, strict=True)
            ],
        }

    def _made(self, tags: int) -> Any:
        from torchmetrics import MetricCollection
        from torchmetrics import classification as theirs

        options: dict[str, Any] = {"num_labels": tags, "threshold": self._threshold, "ignore_index": -1}
        return MetricCollection(
            {
                "recall_micro": theirs.MultilabelRecall(average="micro", **options),
                "f1_micro": theirs.MultilabelF1Score(average="micro", **options),
                "f1_macro": theirs.MultilabelF1Score(average="macro", **options),
                "counts": theirs.MultilabelStatScores(average="none", **options),
            }
        )


class NumberMeter:
    """Root of the mean squared error over all numbers."""

    def __init__(self) -> None:
        from torchmetrics import MeanSquaredError

        self._error = MeanSquaredError(squared=False).set_dtype(torch.float64)

    def update(self, mean: Float[Tensor, "N D"], labels: Tensor) -> None:
        """Take in mean values and targets [N] or [N, D]."""
        self._error.update(mean.double().cpu(), labels.double().cpu().view(mean.shape))

    def compute(self) -> dict[str, Any]:
        """Every metric by name."""
        return {"rmse": self._error.compute().item()}


class PixelMeter:
    """Overlap and accuracy of every class, over all known pixels of all items.

    `mean_iou` is the mean over the classes that are true or guessed somewhere of intersection by
    union, `class_accuracy` the mean recall of the classes that occur, `accuracy` the share of all pixels.
    """

    def __init__(self, *, ignore: int | None) -> None:
        self._ignore = ignore
        self._counts: Any = None

    def update(self, mean: Float[Tensor, "N H W C"], labels: Tensor) -> None:
        """Take in mean probabilities and masks."""
        if self._counts is None:
            from torchmetrics.classification import MulticlassConfusionMatrix

            self._counts = MulticlassConfusionMatrix(mean.shape[-1], ignore_index=self._ignore)
        self._counts.update(mean.argmax(dim=-1).cpu(), labels.long().cpu())

    def compute(self) -> dict[str, Any]:
        """Every metric by name."""
        counts = self._counts.compute()
        iou, recall = ious(counts), recalls(counts)
        return {
            "mean_iou": mean_of(iou),
            "class_accuracy": mean_of(recall),
            "accuracy": (counts.diagonal().sum() / counts.sum().clamp(min=1)).item(),
            "iou": iou,
            "recall": recall,
        }

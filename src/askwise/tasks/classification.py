"""One class per item."""

from torch import Tensor, nn

from askwise.errors import InputError, choose
from askwise.math.links import log_softmax, log_softplus
from askwise.tasks.task import Task
from askwise.types import LogProbs

_LINKS = {"softmax": log_softmax, "softplus": log_softplus}


def classification(*, link: str = "softmax") -> Task:
    """The task; `link="softplus"` normalises softplus outputs as Shridhar et al. 2019 do."""
    to_log_probs = _LINKS[choose("link", link, _LINKS)]

    def log_probs(outputs: Tensor) -> LogProbs:
        if outputs.ndim != 3:
            found = [outputs.shape[0], *outputs.shape[2:]]
            raise InputError(f"classification needs a network that gives logits [N, C], not {found}")
        return to_log_probs(outputs)

    def nll(outputs: Tensor, labels: Tensor) -> Tensor:
        return nn.functional.nll_loss(to_log_probs(outputs), labels)

    return Task("classification", {"link": link}, log_probs, nll, _check_labels, lambda scores: scores)


def _check_labels(labels: Tensor, classes: int) -> Tensor:
    """Whole numbers from 0 to classes - 1, one per item."""
    if labels.is_floating_point() or labels.is_complex():
        dtype = str(labels.dtype).removeprefix("torch.")
        raise InputError(f"labels must be whole numbers from 0 to {classes - 1}, not {dtype}; use y.long()")
    if labels.ndim != 1:
        raise InputError(f"labels must have one axis [N], not {list(labels.shape)}")
    outside = ((labels < 0) | (labels >= classes)).nonzero()
    if len(outside):
        at = int(outside[0])
        raise InputError(
            f"label {int(labels[at])} at position {at} is outside the {classes} classes 0 to {classes - 1}"
        )
    return labels.long()

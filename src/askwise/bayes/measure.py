"""How good a model is on labelled data that it never saw."""

from typing import Any

import torch

from askwise.bayes.fitted import Fitted
from askwise.bayes.stream import blocks, check_inputs, take
from askwise.bayes.trace import outputs_of
from askwise.errors import InputError
from askwise.train import label_tensor


def measure(fitted: Fitted, data: Any, *, draws: int = 100, seed: int = 0) -> dict[str, Any]:
    """The task's measures of the mean prediction for `data` (x, y), by name, and the `nll`.

    The NLL is minus the log of the predictive density averaged over the draws, and then over all
    known labels; numbers give it as `log_likelihood` too. A measure that a class has no items for
    is None. Only a batch of predictions is held at a time.
    """
    if not isinstance(data, tuple) or len(data) != 2:
        raise InputError(f"data to measure on must be a pair (x, y), not {type(data).__name__}")
    inputs, task = data[0], fitted.task
    check_inputs(inputs)
    labels = label_tensor(data[1])
    if len(labels) != len(inputs):
        raise InputError(f"inputs and labels differ in length: {len(inputs)} and {len(labels)}")
    outputs = outputs_of(fitted.network, take(fitted, inputs, 0, 1))
    labels = task.labels(labels, tuple(outputs.shape[1:]))
    meter = task.metrics()
    total, known = 0.0, 0
    for block in blocks(fitted, inputs, draws=draws, seed=seed):
        truth = labels[block.items].to(block.found.device)
        truth = truth[:, block.rows] if task.rows is not None else truth
        with torch.no_grad():
            mean = task.summary(block.found).mean[: block.count]
            likely = task.log_likelihood(block.found[: block.count], truth).double()
        total += likely.nansum().item()
        known += int((~likely.isnan()).sum())
        meter.update(mean, truth)
    if not known:
        raise InputError("every label is unknown, so there is nothing to measure on")
    found = {**meter.compute(), "nll": -total / known}
    return found if task.supplies == "log_probs" else {**found, "log_likelihood": total / known}

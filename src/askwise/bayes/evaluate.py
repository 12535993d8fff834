"""How good a model is on labels that it was not trained on."""

from typing import Any

from torch import Tensor

from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.program.ready import Block, take
from askwise.bayes.program.stream import Reduction, shards
from askwise.bayes.program.trace import outputs_of
from askwise.engine import Engine
from askwise.errors import InputError
from askwise.train import labelled_rows
from askwise.train.progress import Follow


def evaluate(
    fitted: Fitted,
    data: Any,
    *,
    draws: int = 100,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Follow = False,
) -> dict[str, Any]:
    """The metrics of the task for the mean prediction of `data`, by name, and the `nll`.

    `data` is a pair (x, y), or a Dataset or DataLoader of pairs.

    The NLL is minus the log of the predictive density averaged over the draws, and then over all
    known labels; numbers give it as `log_likelihood` too. A metric that a class has no items for
    is None. Only some items' predictions are held at a time.

    >>> aw.evaluate(fitted, (x, y)).keys() >= {"accuracy", "nll", "ece", "brier"}
    True
    """
    fitted = as_fitted(fitted).shown
    (inputs, labels), task = labelled_rows(data), fitted.task
    outputs = outputs_of(fitted.network, take(fitted, inputs, 0, 1))
    labels = task.labels(labels, tuple(outputs.shape[1:]))

    def reduce(block: Block) -> tuple[Tensor, ...]:
        truth = labels[block.items].to(block.found.device)
        truth = truth[:, block.rows] if task.rows is not None else truth
        return task.summary(block.found).mean, task.log_likelihood(block.found[: block.count], truth).double()

    meter = task.metrics()
    total, known = 0.0, 0
    how: dict[str, Any] = {"draws": draws, "seed": seed, "engine": engine, "progress": progress}
    for items, (mean, likely) in shards(fitted, inputs, Reduction(reduce), doing="evaluating", **how):
        total += likely.nansum().item()
        known += int((~likely.isnan()).sum())
        meter.update(mean, labels[items].to(mean.device))
    if not known:
        raise InputError("every label is unknown, so there is nothing to evaluate on")
    found = {**meter.compute(), "nll": -total / known}
    return found if task.supplies == "log_probs" else {**found, "log_likelihood": total / known}

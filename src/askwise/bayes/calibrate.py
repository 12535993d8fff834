"""One temperature for all predictions, chosen on labels that were not trained on (Guo et al. 2017)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from askwise.bayes.fitted import Fitted, as_fitted
from askwise.bayes.program.ready import blocks, tempered
from askwise.bayes.program.trace import as_taken, outputs_of
from askwise.errors import InputError, positive
from askwise.math.temperature import best_temperature, prior
from askwise.tasks import Task
from askwise.train import examples

_KEPT = 256 * 2**20  # bytes of log-probabilities kept between the passes; more are made anew
_ITEMS = 4096  # read at a time, where `data` is read item by item


def calibrate(fitted: Fitted, data: Any, *, draws: int = 100, seed: int = 0) -> Fitted:
    """The model with the temperature under which its mean prediction suits the labels of `data` best.

    `data` is (x, y), or a Dataset or DataLoader of pairs, none of them trained on. The sum of the NLL
    and of 2 log(temperature)^2 is minimised: a prior that weighs as much as a few labels, and keeps
    a small validation set without a mistake from asking for boundless confidence. The NLL of `data`
    is never higher than at temperature 1.

    >>> tempered = aw.calibrate(fitted, (x, y))
    >>> tempered.temperature > 0
    True
    """
    if as_fitted(fitted).task.supplies != "log_probs":
        raise InputError(f"calibrate needs a task with classes; {fitted.task.name!r} has none to temper")
    bare, labelled = replace(fitted.shown, temperature=1.0), examples(data)
    outputs = outputs_of(fitted.network, as_taken(fitted.network, labelled.first))
    labels = fitted.task.labels(labelled.labels, tuple(outputs.shape[1:]))

    def predicted() -> Iterator[tuple[Tensor, Tensor]]:
        for at in torch.split(torch.arange(len(labelled)), _ITEMS):
            for block in blocks(bare, labelled.batch(at)[0], draws=draws, seed=seed):
                truth = labels[at[block.items]].to(block.found.device)
                own = truth if fitted.task.rows is None else truth[:, block.rows]
                yield block.found[: block.count], own

    size = fitted.task.predictive(outputs.unsqueeze(1)).numel() * outputs.element_size()
    kept = list(predicted()) if len(labelled) * positive("draws", draws) * size <= _KEPT else None
    found = best_temperature(lambda at: _nll(fitted.task, predicted() if kept is None else kept, at))
    return replace(fitted, temperature=found)


def _nll(task: Task, parts: Iterable[tuple[Tensor, Tensor]], at: Sequence[float]) -> list[float]:
    """Summed NLL of the mean prediction at each temperature, and the prior of that temperature."""
    totals = [prior(temperature) for temperature in at]
    for logs, labels in parts:
        # Items last in memory: measured, the links are three times as fast.
        some = logs.movedim(0, -1).contiguous().movedim(-1, 0)
        for place, temperature in enumerate(at):
            likely = task.log_likelihood(tempered(some, temperature), labels)
            totals[place] -= likely.double().nansum().item()  # NaN where a label is unknown
    return totals

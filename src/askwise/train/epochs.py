"""The one epoch loop: in-memory batches, any optimizer, a stop at the first number that is not finite."""

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from askwise.errors import TrainingError
from askwise.train.ending import EarlyStop, Ending, last_epoch
from askwise.train.examples import Examples
from askwise.train.optimizer import Optimizer, set_pace
from askwise.train.progress import Follow, track
from askwise.train.training import Course, Training

Terms: TypeAlias = Mapping[str, Tensor]
"""The named parts of a loss; the one called `loss` is minimised, all are logged."""

History: TypeAlias = tuple[dict[str, float], ...]
"""The mean of every term in every epoch that was learned."""


_NAMED = 5  # items that an error lists


def train(
    step: Callable[[Tensor, Tensor, int], Terms],
    optimizer: Optimizer,
    data: Examples,
    *,
    training: Training,
    course: Course,
    rng: torch.Generator,
    device: torch.device,
    progress: Follow = False,
    prepare: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    ending: Ending = Ending(),  # noqa: B008 - frozen
    early_stop: EarlyStop | None = None,
) -> History:
    """The history of minimising `step(inputs, labels, step number)["loss"]` over prepared batches.

    It has one entry for each epoch that was learned. `course` is the length, `training` the pace.
    """
    history: list[dict[str, float]] = []
    number, last = 0, course.epochs
    for _ in track(range(course.epochs), "learning", show=progress):
        sums: dict[str, float] = {}
        orders = (data.order(rng) for _ in range(course.passes))
        for positions in (batch for order in orders for batch in torch.split(order, list(course.sizes))):
            set_pace(optimizer, training.schedule, number / course.steps)
            batch = data.batch(positions)
            inputs, labels = (part.to(device) for part in (prepare(*batch) if prepare else batch))
            for _ in range(optimizer.samples):
                with optimizer.sampling():
                    terms = step(inputs, labels, number)
                    values = {name: term.item() for name, term in terms.items()}
                    _check(values, number, data, positions, inputs)
                    terms["loss"].backward()  # type: ignore[no-untyped-call]
                share = len(positions) / optimizer.samples
                for name, value in values.items():
                    sums[name] = sums.get(name, 0.0) + value * share
            optimizer.step()
            number += 1
        history.append({name: total / (len(data) * course.passes) for name, total in sums.items()})
        if last == course.epochs:
            last = last_epoch(history, course.epochs, training.converged, ending)
            if last < course.epochs:
                ending.moved((course.epochs - last) * course.steps_per_epoch)
        if early_stop is not None and len(history) > ending.after:
            history[-1]["validation"] = early_stop.check()
        if len(history) == last or (early_stop is not None and early_stop.over):
            break
    if early_stop is not None:
        early_stop.restore()
    return tuple(history)


def _check(
    values: Mapping[str, float], number: int, data: Examples, positions: Tensor, inputs: Tensor
) -> None:
    """An error that names step and items if the loss is not finite: broken inputs, or else the batch."""
    if math.isfinite(values["loss"]):
        return
    broken = ~torch.isfinite(inputs.flatten(1)).all(dim=1).cpu()
    suspects = positions[broken] if broken.any() else positions
    parts = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    names = [data.name(int(at)) for at in suspects[:_NAMED]]
    more = f" and {len(suspects) - _NAMED} more" if len(suspects) > _NAMED else ""
    what = "the inputs of these are not finite" if broken.any() else "look at these, or lower lr"
    raise TrainingError(
        f"the loss is not finite at step {number} ({parts}), on items {', '.join(names)}{more}; {what}"
    )

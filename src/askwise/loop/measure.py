"""What a new model says of the part of the pool that is kept for testing, in what a round keeps of it."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.assess import Spread
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.errors import InputError
from askwise.loop.models import model_before
from askwise.loop.score import chunk_size, chunks
from askwise.loop.setting import Setting

_AHEAD = 64  # test items scored before they are asked: their order is fixed, and answers can be read at once


def measure(setting: Setting, fitted: Fitted, number: int) -> dict[str, Any]:
    """Class and uncertainty of the test items asked and of those to come, and the spread over the region.

    With groups the uncertainty of an item is the mean of its group. `changed` is the share of the region
    that the model before put into another class.
    """
    testing = setting.testing()
    order = testing.order()
    ids, mean = known_by(setting, fitted, number, order)
    if not ids:
        raise InputError("no item that is kept for testing can be read; set testing = 0 in the plan")
    best, guess = mean.max(dim=-1)
    doubt = (1 - best.double()).clamp(0, 1)
    earlier = setting.guesses.get(number - 1)
    if earlier is None and (past := model_before(setting, number)) is not None:
        known, before = known_by(setting, past, number - 1, order)
        earlier = dict(zip(known, before.argmax(dim=-1).tolist(), strict=True))
    now = dict(zip(ids, guess.tolist(), strict=True))
    setting.guesses = {number: now}
    same = [earlier[name] != now[name] for name in ids if name in earlier] if earlier else []
    if testing.groups:
        doubt, spread = _grouped([testing.group_of(name) for name in ids], doubt)
    else:
        spread = Spread.of(doubt)
    wanted = {*testing.asked, *testing.next(_AHEAD)}
    return {
        "items": {
            name: [cls, value]
            for name, cls, value in zip(ids, guess.tolist(), doubt.tolist(), strict=True)
            if name in wanted
        },
        "region": spread.written(),
        "changed": sum(same) / len(same) if same else None,
    }


def known_by(
    setting: Setting, fitted: Fitted, number: int, order: list[str]
) -> tuple[list[str], Float[Tensor, "N C"]]:
    """Those items that can be read, and the mean probabilities that the model of a round gives them."""
    plan, ids, means = setting.plan, list[str](), list[Tensor]()
    for some in chunks(order, chunk_size(setting.pool)):
        reading = setting.pool.read(some)
        ids += reading.ids
        if reading.ids:
            seed = plan.draw_seed(number)
            found = predict(fitted, reading.inputs, draws=plan.draws, seed=seed, engine=setting.engine)
            means.append(found.mean.cpu())
    return ids, torch.cat(means) if means else torch.empty(0, len(plan.classes))


def _grouped(groups: list[str], doubt: Tensor) -> tuple[Tensor, Spread]:
    """The mean of each item's group, and the spread of these means over the groups."""
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    place = torch.tensor([names[group] for group in groups])
    sums = torch.zeros(len(names), dtype=torch.float64).index_add_(0, place, doubt)
    means = sums / place.bincount(minlength=len(names))
    return means[place], Spread.of(means)

"""What a new model predicts for the part of the pool that is kept for testing, as a round stores it."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from askwise.assess import Spread
from askwise.assess.band import LEAST
from askwise.bayes.evaluate import evaluate
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict
from askwise.errors import InputError
from askwise.loop.models import model_before
from askwise.loop.noted import note_tests
from askwise.loop.quality import course
from askwise.loop.score import chunk_size, chunks
from askwise.loop.setting import Setting
from askwise.loop.testing import Testing
from askwise.store.facts import Snapshot

_MOST = 5_000
_AHEAD = 64  # test items scored before they are asked: their order is fixed, and answers can be read at once


def measure(setting: Setting, fitted: Fitted, snapshot: Snapshot) -> dict[str, Any]:
    """What the model says of the test items asked and of those to come, and the spread over the region.

    Beside it stands how the test questions stood at its snapshot, so that nobody has to read the history.

    With groups the uncertainty of an item is the mean of its group. `changed` is the share of the region
    that the model before put into another class, where a stop rule asks for it. Of a large region a part
    stands for all of it: the first items in a random order, in which they are asked, too.
    """
    testing, number = setting.testing(), snapshot.round
    order = testing.order()[:_MOST]
    ids, mean = known_by(setting, fitted, number, order)
    if not ids:
        raise InputError("no item that is kept for testing can be read; set testing = 0 in the plan")
    found: dict[str, Any] = {}
    if setting.plan.kind == "classification":
        found = _classes(setting, number, ids, mean)
    elif setting.plan.kind == "multilabel":
        said = map(setting.labelling.guess, mean)  # the tags that are shown
        guess = setting.rows(tags for tags in said if tags is not None).long()
        chances = mean.gather(-1, guess.unsqueeze(-1)).squeeze(-1)
        uncertainty = (1 - chances.double()).clamp(0, 1)
        found = {"items": _kept(testing, ids, guess, uncertainty)}
        found["region"] = [Spread.of(column).written() for column in uncertainty.T]
    if setting.plan.kind == "classification":
        found |= course(setting.rounds, snapshot.count, found)
    else:
        found["estimates"] = _estimates(setting, fitted, number)
    return found | note_tests(testing, found.get("items", ()), seen=snapshot.seen)


def _classes(setting: Setting, number: int, ids: list[str], mean: Tensor) -> dict[str, Any]:
    testing = setting.testing()
    best, guess = mean.max(dim=-1)
    uncertainty = (1 - best.double()).clamp(0, 1)
    earlier = setting.guesses.get(number - 1)
    steady = setting.plan.stable is not None
    if steady and earlier is None and (past := model_before(setting, number)) is not None:
        known, before = known_by(setting, past, number - 1, ids)
        earlier = dict(zip(known, before.argmax(dim=-1).tolist(), strict=True))
    now = dict(zip(ids, guess.tolist(), strict=True))
    setting.guesses = {number: now}
    moved = [earlier[name] != now[name] for name in ids if name in earlier] if steady and earlier else []
    if testing.groups:
        uncertainty, spread = _grouped([testing.group_of(name) for name in ids], uncertainty)
    else:
        spread = Spread.of(uncertainty)
    return {
        "items": _kept(testing, ids, guess, uncertainty),
        "region": spread.written(),
        "changed": sum(moved) / len(moved) if moved else None,
    }


def _kept(testing: Testing, ids: list[str], guess: Tensor, uncertainty: Tensor) -> dict[str, list[Any]]:
    """Of the test items that were asked and of the next ones: what the model says, and how unsure it is."""
    wanted = {*testing.trials, *testing.next(_AHEAD)}
    rows = zip(ids, guess.tolist(), uncertainty.tolist(), strict=True)
    return {name: [said, value] for name, said, value in rows if name in wanted}


def _estimates(setting: Setting, fitted: Fitted, number: int) -> dict[str, float]:
    """The task's measures on ten test answers or more: estimates, since there is no promise for them."""
    known = {one.id: one.label for one in setting.testing().tested() if one.label is not None}
    reading = setting.pool.read([name for name in known if name in setting.pool])
    if len(reading.ids) < LEAST:
        return {}
    data = reading.inputs, setting.rows(known[name] for name in reading.ids)
    seed = setting.plan.draw_seed(number)
    found = evaluate(fitted, data, draws=setting.plan.draws, seed=seed, engine=setting.engine)
    return {name: found[name] for name in setting.task.measures if isinstance(found.get(name), float)}


def known_by(
    setting: Setting, fitted: Fitted, number: int, order: list[str]
) -> tuple[list[str], Float[Tensor, "N ..."]]:
    """Those items that can be read, and the mean probabilities that the model of a round gives them."""
    plan, ids, means = setting.plan, list[str](), list[Tensor]()
    for some in chunks(order, chunk_size(setting.pool)):
        reading = setting.pool.read(some)
        ids += reading.ids
        if reading.ids:
            seed = plan.draw_seed(number)
            found = predict(fitted, reading.inputs, draws=plan.draws, seed=seed, engine=setting.engine)
            means.append(found.mean.cpu())
    return ids, torch.cat(means) if means else torch.empty(0, len(plan.names))


def _grouped(groups: list[str], uncertainty: Tensor) -> tuple[Tensor, Spread]:
    """The mean of each item's group, and the spread of these means over the groups."""
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    place = torch.tensor([names[group] for group in groups])
    sums = torch.zeros(len(names), dtype=torch.float64).index_add_(0, place, uncertainty)
    means = sums / place.bincount(minlength=len(names))
    return means[place], Spread.of(means)

"""Items as a report shows them: what was asked, in order, and what is still uncertain."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from askwise.acquire import ACQUISITIONS
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict, score_pool
from askwise.errors import CorruptError
from askwise.loop.calibration import noted, with_temperature
from askwise.loop.score import Part, chunk_size, score_items, subset
from askwise.oracle.labelling import labelling
from askwise.oracle.masks import Masks
from askwise.pool.pool import Pool
from askwise.report.content import Shown
from askwise.report.past import Past
from askwise.report.pictures import heat, overlaid, painted, png
from askwise.report.wording import percent
from askwise.store.facts import Question
from askwise.store.labels import Label, Mask, Numbers, Tags, class_number
from askwise.store.ledger import Ledger

MOST = 600
"""Questions that a page shows: more would make it too heavy to open."""

_UNSURE = 20
_TAGS = 3  # the likeliest, of an item
_SCORED = 20_000  # unlabelled items at most; a page need not look at millions


def asked(run: Past, ledger: Ledger, pool: Pool | None, *, most: int = MOST) -> tuple[list[Shown], int]:
    """Questions in order with the answers that hold now, the middle left out of many; and their count."""
    every = run.store.facts(Question)
    questions = every if len(every) <= most else every[: most // 2] + every[-(most // 2) :]
    pictures = _pictures(pool, [question.id for question in questions])
    shown = [
        Shown(
            id=question.id,
            picture=pictures.get(question.id),
            score=question.score if question.round else None,  # before a model it is chance
            guess=_named(run, question.guess),
            label=_named(run, ledger.labels.get(question.id)),
            round=question.round,
            judged=run.plan.kind in ("classification", "multilabel"),
            more=_told_mask(run, ledger.labels.get(question.id), pictures.get(question.id)),
        )
        for question in questions
    ]
    return shown, len(every)


def unsure(run: Past, ledger: Ledger, pool: Pool, fitted: Fitted) -> list[Shown]:
    """The items with the highest scores that are left, as the next round would find them."""
    plan = run.plan
    usual = "variance_of_means" if plan.kind == "regression" else "max_entropy"
    own = ACQUISITIONS.get(plan.acquire)
    acquire = plan.acquire if own is not None and own.needs in ("log_probs", "moments") else usual
    options = plan.acquire_options if acquire == plan.acquire else {}
    draw = plan.draw_seed(len(run.rounds))
    held = {*plan.validation.ids, *plan.test.ids}
    left = (name for name in pool.ids if not ledger.known(name) and name not in held)

    def scores(some: list[str]) -> Part:
        reading = pool.read(some)
        found = score_pool(fitted, reading.inputs, acquire, draws=plan.draws, seed=draw, **options)
        return reading.ids, found, reading.quarantined

    some = list(islice(left, _SCORED + 1))
    if len(some) > _SCORED:
        some = subset([*some, *left], _SCORED, seed=plan.seed)
    if not some:
        return []
    best = score_items(
        some, lambda lists: map(scores, lists), chunk=chunk_size(pool), keep=_UNSURE, seed=plan.seed
    )
    values = dict(zip(best.ids, best.scores.tolist(), strict=True))
    reading = pool.read(sorted(values, key=lambda name: -values[name]))
    handed = with_temperature(fitted, noted(run.rounds[-1]))  # what is shown; what asks has no temperature
    found = predict(handed, reading.inputs, draws=plan.draws, seed=draw)
    pictures = _drawn(reading.ids, reading.inputs)
    return [
        Shown(
            id=name,
            picture=pictures.get(name),
            score=values[name],
            **_guessed(run, found.mean[place], found.total[place], reading.inputs[place]),
        )
        for place, name in enumerate(reading.ids)
    ]


def _guessed(run: Past, mean: Tensor, total: Tensor, item: Tensor) -> dict[str, Any]:
    """What a model thinks of an item, as its task says it."""
    names = run.plan.names
    match run.plan.kind:
        case "classification":
            sure, guess = mean.max(dim=-1)
            return {"guess": names[int(guess)], "sure": sure.item()}
        case "multilabel":
            best = mean[..., 1].topk(min(_TAGS, len(names)))
            pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
            return {"guess": ", ".join(f"{names[tag]} {percent(sure, digits=0)}" for sure, tag in pairs)}
        case "regression":
            told = zip(mean.tolist(), total.sqrt().tolist(), strict=True)
            return {"guess": ", ".join(f"{value:.4g} ± {spread:.2g}" for value, spread in told)}
        case _:
            if item.ndim != 3 or item.shape[0] not in (1, 3):
                return {}
            drawn = [("the mask it would draw", overlaid(item, mean.argmax(dim=-1), len(names)))]
            return {"more": [*drawn, ("where it is uncertain", heat(total))]}


def _told_mask(run: Past, label: Label | None, picture: bytes | None) -> list[tuple[str, bytes]]:
    """The mask that was told, as a picture beside the item's."""
    if not isinstance(label, Mask) or picture is None or run.store.folder is None:
        return []
    try:
        mask = Masks(run.store.folder.with_suffix(".masks")).array(label)
    except CorruptError:
        return []
    return [("the mask that was told", painted(torch.from_numpy(mask).long(), len(run.plan.names)))]


def _named(run: Past, label: Label | None) -> str | None:
    """A label in few words; a mask has none."""
    match label:
        case None | Mask():
            return None
        case Numbers():
            return ", ".join(f"{value:.4g}" for value in label.values)
        case Tags():
            return labelling(run.plan.task, run.plan.names).text(label).replace("|", ", ")
    return run.plan.names[class_number(label)]


def _pictures(pool: Pool | None, ids: Sequence[str]) -> dict[str, bytes]:
    if pool is None:
        return {}
    reading = pool.read([name for name in ids if name in pool])
    return _drawn(reading.ids, reading.inputs)


def _drawn(ids: Sequence[str], inputs: Tensor) -> dict[str, bytes]:
    """Pictures by id, where items are pictures."""
    if inputs.ndim != 4 or inputs.shape[1] not in (1, 3) or not inputs.is_floating_point():
        return {}
    return {name: png(pixels) for name, pixels in zip(ids, inputs, strict=True)}

"""Items as a report shows them: what was asked, in order, and what is still uncertain."""

from collections.abc import Sequence
from itertools import islice

from torch import Tensor

from askwise.acquire import ACQUISITIONS
from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import predict, score_pool
from askwise.loop.score import Part, chunk_size, score_items, subset
from askwise.pool.pool import Pool
from askwise.report.content import Shown
from askwise.report.past import Past
from askwise.report.pictures import png
from askwise.store.facts import Question
from askwise.store.labels import Label, class_number
from askwise.store.ledger import Ledger

MOST = 600
"""Questions that a page shows: more would make it too heavy to open."""

_UNSURE = 20
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
            score=question.score if question.guess is not None else None,  # before a model it is chance
            guess=_named(run, question.guess),
            label=_named(run, ledger.labels.get(question.id)),
            round=question.round,
        )
        for question in questions
    ]
    return shown, len(every)


def unsure(run: Past, ledger: Ledger, pool: Pool, fitted: Fitted) -> list[Shown]:
    """The items with the highest scores that are left, as the next round would find them."""
    plan = run.plan
    acquire = plan.acquire if ACQUISITIONS[plan.acquire].needs == "log_probs" else "max_entropy"
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
    reading = pool.read(best.ids)
    sure, guess = predict(fitted, reading.inputs, draws=plan.draws, seed=draw).mean.max(dim=-1)
    pictures = _drawn(reading.ids, reading.inputs)
    return [
        Shown(
            id=name,
            picture=pictures.get(name),
            score=best.scores[place].item(),
            guess=plan.classes[int(guess[place])],
            sure=sure[place].item(),
        )
        for place, name in enumerate(reading.ids)
    ]


def _named(run: Past, label: Label | None) -> str | None:
    return None if label is None else run.plan.classes[class_number(label)]


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

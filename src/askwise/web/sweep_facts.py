"""Grids of items as they stand in the store: confirmed by one append, taken back by another."""

from collections.abc import Iterable, Sequence

from askwise.errors import InputError
from askwise.store.facts import Answer, Fact, Sweep
from askwise.store.labels import Label
from askwise.web.desk import Desk


def confirm(
    desk: Desk,
    annotator: str,
    *,
    sweep: str,
    key: str,
    number: int,
    revision: int,
    tiles: Sequence[str],
    wrong: dict[str, int | None],
    seconds: float | None = None,
) -> Sweep:
    """The grid as it is on the disk: one append for all of its items, and once however often it is sent.

    `revision` is that of the offer: what had a label then is a sentinel, and keeps it. `wrong` names the
    class of what is not of this one, or none where the item goes back. What has a label by now keeps it.
    """
    with desk.lock:
        known = _stored(desk, annotator, key)
        if known is not None:
            return known
        ledger = desk.ledger.refresh()
        if revision > desk.store.revision:
            raise InputError(f"a grid of revision {revision} was not offered yet; load it again")
        then = ledger.labels_at(revision)
        sentinels = [name for name in tiles if name in then and then[name] != number]
        items = [name for name in tiles if name not in then and not _taken(desk, name)]
        marked = {name: other for name, other in wrong.items() if other != number}
        labels: dict[str, Label | None] = {name: marked.get(name, number) for name in items}
        fact = Sweep(
            sweep=sweep,
            key=key,
            annotator=annotator,
            number=number,
            items=tuple(items),
            wrong=tuple(name for name in items if name in marked),
            sentinels=tuple(sentinels),
            missed=tuple(name for name in sentinels if name not in marked),
        )
        answers = [
            _answer(desk, fact, name, label=label, seconds=seconds)
            for name, label in labels.items()
            if label is not None
        ]
        return _append(desk, fact, answers)


def take_back(desk: Desk, annotator: str, *, sweep: str, key: str) -> Sweep | None:
    """The undoing of a grid as it is on the disk: all that it has labelled is unlabelled again, at once.

    What somebody has answered since then stays. None if there is no such grid.
    """
    with desk.lock:
        known = _stored(desk, annotator, key)
        if known is not None:
            return known
        ledger = desk.ledger.refresh()
        mine = [one for one in standing(desk.sweeps()) if (one.annotator, one.sweep) == (annotator, sweep)]
        if not mine:
            return None
        last = {name: said[-1] for name in mine[-1].items if (said := ledger.history(name))}
        fact = Sweep(sweep=sweep, key=key, annotator=annotator, number=mine[-1].number, undone=True)
        answers = [
            _answer(desk, fact, name, question=said.question)
            for name, said in last.items()
            if (said.annotator, said.key) == (annotator, mine[-1].key)
        ]
        return _append(desk, fact, answers)


def standing(grids: Iterable[Sweep]) -> list[Sweep]:
    """The grids that were confirmed and not taken back since, oldest first."""
    kept: dict[tuple[str, str], Sweep] = {}
    for one in grids:
        kept.pop((one.annotator, one.sweep), None)
        if not one.undone:
            kept[one.annotator, one.sweep] = one
    return list(kept.values())


def kept_for_testing(desk: Desk, identity: str) -> bool:
    """Whether an item is kept for testing: nobody labels it but in answer to its question."""
    if not desk.testing.on:
        return False
    kept = desk.testing.refresh(desk.store.ids(), desk.store.count())
    return identity in kept.trials or (identity in kept and kept.begun)


def _append(desk: Desk, fact: Sweep, answers: list[Answer]) -> Sweep:
    facts: list[Fact] = [*answers, fact]
    desk.store.append(facts)
    stored = _stored(desk, fact.annotator, fact.key)
    assert stored is not None  # noqa: S101 - it was appended just now
    return stored


def _answer(
    desk: Desk,
    fact: Sweep,
    identity: str,
    *,
    label: Label | None = None,
    question: str | None = None,
    seconds: float | None = None,
) -> Answer:
    """A label, or without one what takes it back; the model's guess was seen in either case."""
    return Answer(
        id=identity,
        key=fact.key,
        verdict="retract" if label is None else "label",
        label=label,
        question=desk.ledger.asked(identity) if question is None else question,
        annotator=fact.annotator,
        view="sweep",
        assisted=True,
        seconds=seconds,
    )


def _stored(desk: Desk, annotator: str, key: str) -> Sweep | None:
    found = (one for one in desk.sweeps() if (one.annotator, one.key) == (annotator, key))
    return next(found, None)


def _taken(desk: Desk, identity: str) -> bool:
    """Whether an item has an answer by now, or may not have one from here."""
    return desk.ledger.answered(identity) or identity not in desk.pool or kept_for_testing(desk, identity)

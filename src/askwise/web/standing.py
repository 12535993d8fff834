"""How a project stands, as the page's panel shows it, and a sentence on what to do next."""

import math
from collections import Counter

from askwise.assess.band import LEAST
from askwise.loop.noted import TALLY, TESTING
from askwise.store.facts import Round
from askwise.tasks import named
from askwise.web import models
from askwise.web.desk import Desk
from askwise.web.live import Live

_STEADY = 25  # labels of which the model has seen all, after which it is called steady


def status(desk: Desk, live: Live) -> models.Status:
    """The panel."""
    revision = desk.store.revision
    counts = desk.counts()
    classes = desk.classes
    labels = _balance(desk)
    rounds = desk.rounds()
    answers = desk.answers()
    seen = max([live.seen, *(one.seen for one in rounds[-1:])])
    encoding = live.encoding()
    model = _model(counts.labelled, rounds, seen, desk, encoding)
    return models.Status(
        labels=counts.labelled,
        balance=[
            models.Balance(name=classes.names[number], count=labels[classes.names[number]])
            for number in classes.active()
        ],
        seen=sum(one.revision <= seen for one in answers) if rounds else 0,
        given=len(answers),
        curve=_curve(rounds),
        accuracy=desk.accuracy(),
        measure=_measure(desk, rounds),
        forecast=desk.forecast(),
        encoding=encoding,
        encoder=live.encoder_now,
        encoders=live.compared,
        speed=None if (rate := desk.per_minute()) is None else models.Speed(per_minute=round(rate, 1)),
        model=model,
        trainer="running" if live.running else "restarting",
        next=_next(desk, live, counts, labels, model),
        revision=revision,
    )


def reason(desk: Desk, live: Live) -> str:
    """Why there is nothing to ask just now."""
    counts, encoding = desk.counts(), live.encoding()
    if not desk.classes.active() and desk.plan.kind != "regression":
        return "No class has a name yet: add one with +."
    if counts.labelled >= desk.plan.budget:
        return (
            f"The budget of {desk.plan.budget} labels is spent. Raise `budget` in "
            f"{desk.project.plan} and start again to go on."
        )
    if live.refused is not None and not live.running:
        return f"No questions can be chosen: {live.refused}"
    if counts.unlabelled + counts.open + counts.skipped == 0:
        return "Every item is labelled, cannot be told, or cannot be read: there is nothing left to ask."
    if encoding is not None and not counts.open:
        return f"The encoder is at item {encoding.done:,} of {encoding.of:,}; the first questions come soon."
    if counts.unlabelled + counts.open == 0:
        return "All that is left was skipped; it comes again when you ask for it."
    return "The next questions are being chosen."


def _balance(desk: Desk) -> Counter[str]:
    """How many labels name each class or tag; numbers name none."""
    found: Counter[str] = Counter()
    classes = desk.classes
    for label in list(desk.ledger.labels.values()):
        shown = desk.shown_label(label, classes)
        found.update([shown] if isinstance(shown, str) else shown if isinstance(shown, list) else [])
    return found


def _model(
    labels: int, rounds: list[Round], seen: int, desk: Desk, encoding: models.Encoding | None
) -> models.Model:
    if not rounds:
        return "encoding" if encoding is not None and not labels else "cold"
    unseen = any(one.revision > seen for one in desk.answers()[-1:])
    return "learning" if unseen or labels < _STEADY else "steady"


def _curve(rounds: list[Round]) -> list[models.Point]:
    found: dict[int, float | None] = {}
    for one in rounds:
        part = one.metrics.get("test") or one.metrics.get("validation") or {}
        found[one.labels] = part.get("accuracy")
    return [models.Point(labels=labels, accuracy=value) for labels, value in sorted(found.items())]


def _measure(desk: Desk, rounds: list[Round]) -> models.Measure | None:
    """The measure of the task to look at first, by the last model that was measured."""
    if desk.plan.kind == "classification":
        return None
    name = named(desk.plan.task).measures[0]
    called = name.replace("_", " ")
    for one in reversed(rounds):
        tested = one.metrics.get(TESTING)
        part = one.metrics.get("test") or one.metrics.get("validation") or {}
        value = tested.get("estimates", {}).get(name) if tested is not None else part.get(name)
        if value is not None and math.isfinite(value):
            count = 0 if tested is None else tested[TALLY]["answered"]
            where = "data that are held out" if tested is None else f"{count} test answers"
            said = f"The {called} is an estimate from {where}, without limits that are promised."
            return models.Measure(name=called, value=value, said=said)
        if tested is not None or part:
            break  # an older one is of another model
    wanted = f"it needs a model, and {LEAST} answers to test questions"
    why = wanted if desk.testing.on else "no questions test it"
    return models.Measure(name=called, value=None, said=f"The {called} is not known: {why}.")


def _next(desk: Desk, live: Live, counts: models.Counts, labels: Counter[str], model: str) -> str:
    """One sentence."""
    classes = desk.classes
    active = [classes.names[number] for number in classes.active()]
    answered = [name for name in active if labels[name]]
    given = desk.answers()
    if live.refused is not None and not live.running:
        return f"The model cannot learn: {live.refused}"
    if not active and desk.plan.kind != "regression":
        return "Name the first class: press + and type it."
    if counts.labelled >= desk.plan.budget:
        return f"The budget of {desk.plan.budget} labels is spent; raise it in {desk.project.plan} to go on."
    if counts.unlabelled + counts.open + counts.skipped == 0:
        return "Nothing is left to ask: look through the history, then predict or export."
    if not given and model == "encoding" and not counts.open:
        return "The encoder has begun; the first questions come as soon as some items are encoded."
    if not given:
        return "Label the first item: one key, and the next one comes."
    if not counts.labelled and all(one.verdict == "skip" for one in given):
        return "Everything so far was skipped: label one item, or add the class that is missing with +."
    if not counts.labelled:
        return "There is no label yet: the model begins to learn with the first two."
    if desk.plan.kind == "classification" and len(answered) == 1:
        return f"So far all labels are {answered[0]!r}: the model begins to learn with a second class."
    if desk.plan.kind != "classification" and len(set(desk.ledger.labels.values())) < 2:
        kind = "numbers" if desk.plan.kind == "regression" else "answers"
        return f"Go on: the model begins to learn with two different {kind}."
    missing = [name for name in active if name not in answered and desk.plan.kind != "regression"]
    if missing:
        shown = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
        return f"Go on: no item is labelled {shown} yet, and the model cannot know what it never saw."
    if counts.unlabelled + counts.open == 0:
        return "Only skipped items are left: label them, or say that they cannot be told."
    return f"Go on: the model chooses what it can learn most from ({counts.labelled} of {desk.plan.budget})."

"""The routes of Check: items worth a second look, with what was said of them; answers go to /api/answers."""

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel

from askwise.store.classes import Edited
from askwise.store.facts import Answer
from askwise.web.desk import VERDICTS, Desk, opaque
from askwise.web.live import Live
from askwise.web.models import Opaque, Verdict
from askwise.web.queues import Queues

CheckKind = Literal["suspects", "disagreements", "swept", "edited", "skipped", "unclear"]


class Said(BaseModel):
    """What one person said last."""

    annotator: str
    yours: bool
    verdict: Verdict
    value: str | float | list[str] | None
    assisted: bool


class Holds(BaseModel):
    """What holds now."""

    verdict: Verdict
    value: str | float | list[str] | None


class Likelier(BaseModel):
    """What models that have not seen a label find likelier than it."""

    name: str
    p: float
    given_p: float


class ToCheck(BaseModel):
    """An item to look at again."""

    item: Opaque
    name: str
    said: list[Said]
    holds: Holds | None = None
    likelier: Likelier | None = None


class Check(BaseModel):
    """Items of one kind, and how many there are of each; none where nobody has looked yet.

    Where it `resolves`, one more answer would not decide: what is said goes to /api/resolutions instead.
    `unchecked` says why no label is held against the model; none where they are.
    """

    kind: CheckKind
    items: list[ToCheck]
    resolves: bool = False
    unchecked: str | None = None
    counts: dict[CheckKind, int | None]


def add_check(app: FastAPI, desk: Desk, live: Live, *, sees_all: Callable[[str], bool]) -> None:
    """Add the routes; `sees_all` says who may see what others have said."""
    queues = Queues(desk, live)

    @app.get("/api/check")
    def check(
        request: Request, kind: CheckKind = "suspects", n: Annotated[int, Query(ge=1, le=200)] = 24
    ) -> Check:
        """Items to look at again; what somebody kept in this view does not come back."""
        viewer: str = request.state.annotator
        who = None if sees_all(viewer) else viewer
        classes, items = desk.classes, []
        resolves = who is None and desk.ledger.refresh().rules.policy != "latest"
        for name in queues.of(kind, who=who)[:n]:
            said = [one for one in queues.said(name) if who is None or one.annotator == who]
            told = [_said(desk, one, viewer, classes) for one in said]
            holds = _holds(desk, queues, name, classes) if resolves else _last(told)
            items.append(_shown(desk, queues, name, told, holds))
        counts = queues.counts(who=who)
        return Check(
            kind=kind,
            items=items,
            resolves=resolves,
            unchecked=queues.unchecked(),
            counts=counts,  # type: ignore[arg-type]
        )


def _last(said: list[Said]) -> Holds | None:
    return Holds(verdict=said[-1].verdict, value=said[-1].value) if said else None


def _holds(desk: Desk, queues: Queues, identity: str, classes: Edited) -> Holds | None:
    found = queues.holds(identity)
    if found is None:
        return None
    return Holds(verdict=VERDICTS[found[0]], value=desk.shown_label(found[1], classes))


def _shown(desk: Desk, queues: Queues, identity: str, said: list[Said], holds: Holds | None) -> ToCheck:
    suspected = queues.suspected(identity)
    return ToCheck(
        item=opaque(identity),
        name=desk.name(identity),
        said=said,
        holds=holds,
        likelier=None
        if suspected is None
        else Likelier(name=suspected["likelier"], p=suspected["other"], given_p=suspected["p"]),
    )


def _said(desk: Desk, one: Answer, viewer: str, classes: Edited) -> Said:
    counts = desk.ledger.rules.counts_for(one.label)
    return Said(
        annotator=one.annotator,
        yours=one.annotator == viewer,
        verdict=VERDICTS[one.verdict],
        value=desk.shown_label(one.label if counts is None else counts, classes),
        assisted=one.assisted,
    )

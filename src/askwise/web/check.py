"""The routes of Check: what is worth a second look, with what was said of it; answers go the way of all."""

from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel

from askwise.store.classes import Edited
from askwise.store.facts import Answer
from askwise.web.desk import VERDICTS, Desk, opaque
from askwise.web.live import Live
from askwise.web.models import Opaque, Verdict
from askwise.web.queues import Queues

CheckKind = Literal["suspects", "disagreements", "edited", "skipped", "unclear"]


class Said(BaseModel):
    """What one person said last; without a name where people do not see each other's."""

    annotator: str | None
    yours: bool
    verdict: Verdict
    value: str | float | list[str] | None
    assisted: bool


class Doubt(BaseModel):
    """What models that have not seen a label find likelier than it."""

    name: str
    p: float
    given_p: float


class ToCheck(BaseModel):
    """An item to look at again."""

    item: Opaque
    name: str
    said: list[Said]
    doubt: Doubt | None = None


class Check(BaseModel):
    """Items of one kind, and how many there are of each; none where nobody has looked yet."""

    kind: CheckKind
    items: list[ToCheck]
    counts: dict[CheckKind, int | None]


def add_check(app: FastAPI, desk: Desk, live: Live) -> None:
    """Add the routes."""
    queues = Queues(desk, live)

    @app.get("/api/check")
    def check(
        request: Request, kind: CheckKind = "suspects", n: Annotated[int, Query(ge=1, le=200)] = 24
    ) -> Check:
        """Items to look at again; what somebody kept in this view does not come back."""
        viewer: str = request.state.annotator
        classes = desk.classes
        items = [_shown(desk, queues, name, viewer, classes) for name in queues.of(kind)[:n]]
        return Check(kind=kind, items=items, counts=queues.counts())  # type: ignore[arg-type]


def _shown(desk: Desk, queues: Queues, identity: str, viewer: str, classes: Edited) -> ToCheck:
    suspected = queues.suspected(identity)
    return ToCheck(
        item=opaque(identity),
        name=desk.name(identity),
        said=[_said(desk, one, viewer, classes) for one in queues.said(identity)],
        doubt=None
        if suspected is None
        else Doubt(name=suspected["likelier"], p=suspected["other"], given_p=suspected["p"]),
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

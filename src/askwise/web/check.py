"""The routes of Check: what is worth a second look, with what was said of it; answers go the way of all."""

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
        classes = desk.classes
        items = []
        for name in queues.of(kind, who=who)[:n]:
            said = [one for one in queues.said(name) if who is None or one.annotator == who]
            told = [_said(desk, one, viewer, classes) for one in said]
            items.append(_shown(desk, queues, name, told))
        return Check(kind=kind, items=items, counts=queues.counts(who=who))  # type: ignore[arg-type]


def _shown(desk: Desk, queues: Queues, identity: str, said: list[Said]) -> ToCheck:
    suspected = queues.suspected(identity)
    return ToCheck(
        item=opaque(identity),
        name=desk.name(identity),
        said=said,
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

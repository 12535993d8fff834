"""The routes of certified labels: the same audit as `askwise certify`, its checks as a grid on the page."""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from askwise.loop.audit import certificate, under_way
from askwise.web.desk import Desk, opaque
from askwise.web.live import Live
from askwise.web.models import Given, Opaque

_BLIND = 4  # one check in so many shows no guess: whoever sees one is quick to find it right


class Claim(Given):
    """What is to be promised: at most this share wrong, with this probability, by at most so many checks."""

    error: Annotated[float, Field(gt=0, lt=1)] = 0.02
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    checks: Annotated[int, Field(ge=1, le=100_000)] = 200


class CheckShown(BaseModel):
    """An item to look at; without a guess its class is asked for."""

    question: str
    item: Opaque
    name: str
    guess: str | None


class ClassChecked(BaseModel):
    """Of one class: certified labels, how many of them were checked, and how many of these were wrong."""

    name: str
    labels: int
    checks: int
    wrong: int


class Outcome(BaseModel):
    """What came of an attempt; `void` says why a certificate no longer holds."""

    certified: bool
    promise: str | None
    reason: str | None
    confidence: float
    labels: int
    checks: int
    wrong: int
    classes: list[ClassChecked]
    output: str | None
    void: str | None


class AttemptShown(BaseModel):
    """How an attempt stands: items to check, or its outcome."""

    attempt: int
    checked: int
    asked: list[CheckShown]
    outcome: Outcome | None


class Certificates(BaseModel):
    """The last certificate, and what the attempt claims that is under way."""

    last: Outcome | None
    claim: Claim | None


def add_certify(app: FastAPI, desk: Desk, live: Live) -> None:
    """Add the routes."""

    @app.post("/api/certify")
    def certify(given: Claim) -> AttemptShown:
        """Begin an attempt to certify the labels of what nobody labelled, or go on with it."""
        found = live.request("certify", **given.model_dump())
        over = "certified" in found
        return AttemptShown(
            attempt=found["attempt"],
            checked=found["checks"],
            asked=[_shown(desk, one) for one in found["asked"]],
            outcome=_outcome(found) if over else None,
        )

    @app.get("/api/certificate")
    def last() -> Certificates:
        """The last certificate, whether it still holds, and the attempt that is under way."""
        found, claim = certificate(desk.store), under_way(desk.store)
        wanted = None if claim is None else {name: claim[name] for name in Claim.model_fields}
        return Certificates(
            last=None if found is None else _outcome(found),
            claim=None if wanted is None else Claim(**wanted),
        )


def _shown(desk: Desk, one: dict[str, Any]) -> CheckShown:
    blind = one["again"] or sha256(one["question"].encode()).digest()[0] % _BLIND == 0
    return CheckShown(
        question=one["question"],
        item=opaque(one["id"]),
        name=desk.name(one["id"]),
        guess=None if blind else one["guess"],
    )


def _outcome(told: dict[str, Any]) -> Outcome:
    classes = told.get("classes", {})
    return Outcome(
        certified=told["certified"],
        promise=told.get("promise"),
        reason=told.get("reason"),
        confidence=told["confidence"],
        labels=told.get("labels", 0),
        checks=told["checks"],
        wrong=told.get("wrong", 0),
        classes=[ClassChecked(name=name, **count) for name, count in classes.items()],
        output=f"exports/{Path(told['output']).name}" if "output" in told else None,
        void=told.get("void") or None,
    )

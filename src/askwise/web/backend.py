"""An ML backend of Label Studio: it guesses what tasks show, and learns from what people say there."""

import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI
from fastapi.responses import JSONResponse

from askwise.errors import AskwiseError, InputError
from askwise.loop.live import Guess
from askwise.oracle.label_studio import Said, called_in, matched, result_of, said_in, score_of
from askwise.oracle.label_studio_config import interface
from askwise.oracle.labelling import Labelling, labelling
from askwise.store.facts import CANNOT_TELL, SKIP
from askwise.store.labels import Label, Numbers, Tags
from askwise.web import models
from askwise.web.desk import Desk, opaque
from askwise.web.guard import App, Guard, Receive, Scope, Send
from askwise.web.live import Live

_PATIENCE = 3.0  # seconds that a prediction waits for the trainer
_LEARNS = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")

Given = Body(default_factory=dict)


def make_backend(desk: Desk, live: Live, *, token: str, hosts: frozenset[str]) -> App:
    """The application behind its guard; its address is `/TOKEN`, since a webhook has no place for a token."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        live.start()
        try:
            yield
        finally:
            await run_sync(live.stop)
            desk.close()

    app = FastAPI(title="askwise", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    _add_routes(app, desk, live)

    @app.exception_handler(AskwiseError)
    def refused(_: Any, error: Exception) -> JSONResponse:
        code = 400 if isinstance(error, InputError) else 503
        return JSONResponse({"error": " ".join(str(error).split())[:1000]}, status_code=code)

    guarded = Guard(app, people={token: "label-studio"}, hosts=hosts)
    return _Keyed(guarded, token)


def _add_routes(app: FastAPI, desk: Desk, live: Live) -> None:
    def kind() -> Labelling:
        return labelling(desk.plan.task, tuple(desk.plan.numbers or desk.classes.names))

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "UP", "model_class": "askwise"}

    @app.post("/setup")
    def setup(given: dict[str, Any] = Given) -> dict[str, str]:
        interface(str(given.get("schema", "")), kind(), what="the labelling configuration")
        return {"model_version": _version(live)}

    @app.post("/validate")
    def validate(given: dict[str, Any] = Given) -> dict[str, str]:
        interface(str(given.get("config", "")), kind(), what="the labelling configuration")
        return {"status": "ok"}

    @app.post("/predict")
    def predict(given: dict[str, Any] = Given) -> dict[str, Any]:
        tasks = given.get("tasks")
        if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
            raise InputError("a prediction is of a list of tasks")
        face = interface(str(given.get("label_config", "")), kind(), what="the labelling configuration")
        found = [_prediction(task, kind(), face.control, face.to, desk, live) for task in tasks]
        return {"results": found, "model_version": _version(live)}

    @app.post("/webhook")
    def webhook(given: dict[str, Any] = Given) -> dict[str, str]:
        if given.get("action") not in _LEARNS:
            return {"status": "nothing to learn"}
        task, annotation = given.get("task"), given.get("annotation")
        if not isinstance(task, dict) or not isinstance(annotation, dict):
            raise InputError("the event has no task or no annotation; let the webhook send its payload")
        whole = {**task, "annotations": [annotation]}
        [said] = said_in([whole], kind(), what="the event") or [Said("the event", "", None)]
        if said.told is None:
            raise InputError(said.problem or "the event says nothing of an item")
        answer = _answer(said, matched(said.called, desk.pool.find), annotation, kind())
        kept = desk.answer(said.annotator or "label-studio", [answer])
        if kept.refused:
            raise InputError(kept.refused[0].error)
        live.wake()
        return {"status": "learned"}


def _prediction(
    task: Mapping[str, Any], kind: Labelling, control: str | None, to: str, desk: Desk, live: Live
) -> dict[str, Any]:
    """The guess of one task; an empty one, asked for first, where there is no model or no such item."""
    try:
        guess = live.guess(matched(called_in(task.get("data") or {}), desk.pool.find), patience=_PATIENCE)
    except InputError:
        guess = None
    if guess is None:
        return {"result": [], "score": 0.0, "model_version": _version(live)}
    result = result_of(_label(guess, desk.plan.task), kind, control=control, to=to)
    return {"result": result, "score": score_of(guess.total), "model_version": _version(live)}


def _label(guess: Guess, task: Mapping[str, Any]) -> Label:
    if guess.number is not None:
        return Numbers((guess.number,))
    chances = guess.probabilities
    if task["name"] == "multilabel":
        return Tags(tuple(at for at, one in enumerate(chances) if one > task.get("threshold", 0.5)))
    return chances.index(max(chances))


def _answer(said: Said, identity: str, annotation: Mapping[str, Any], kind: Labelling) -> models.AnswerGiven:
    """The annotation as an answer of the page; the same event sent again changes nothing."""
    when = str(annotation.get("updated_at") or annotation.get("created_at") or "")
    key = sha256(f"{annotation.get('id')} {when}".encode()).hexdigest()[:32]
    if said.told is SKIP or said.told is CANNOT_TELL:
        verdict: models.Verdict = "skip" if said.told is SKIP else "unclear"
        return models.AnswerGiven(key=key, item=opaque(identity), verdict=verdict)
    value: Any = said.told
    if isinstance(said.told, Tags):
        value = [kind.names[tag] for tag in said.told.tags]
    elif isinstance(said.told, Numbers):
        value = said.told.values[0]
    return models.AnswerGiven(key=key, item=opaque(identity), verdict="label", value=value)


def _version(live: Live) -> str:
    return f"askwise-{live.seen}"


class _Keyed:
    """Takes the token from the first part of the path, and gives it to the guard as a header."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; what is no path with the token has no token."""
        if scope["type"] == "http":
            first, _, rest = scope["path"].lstrip("/").partition("/")
            if hmac.compare_digest(first.encode("utf-8", "replace"), self._token.encode()):
                headers = [pair for pair in scope["headers"] if pair[0].lower() != b"authorization"]
                bearer = (b"authorization", f"Bearer {self._token}".encode())
                scope = {**scope, "path": f"/{rest}", "headers": [*headers, bearer]}
                scope.pop("raw_path", None)
        await self._app(scope, receive, send)

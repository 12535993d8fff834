"""The routes of the page: JSON in, JSON out; what was answered is on the disk before it is acknowledged."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from anyio import create_task_group, sleep
from anyio.to_thread import run_sync
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse

from askwise.errors import AskwiseError, BusyError, InputError, StaleError
from askwise.loop.live import Guess
from askwise.project.classes import edit_classes
from askwise.web import models, standing
from askwise.web.certify import add_certify
from askwise.web.check import add_check
from askwise.web.classes import shown
from askwise.web.desk import MOST_LEASED, Desk, opaque
from askwise.web.find import add_find
from askwise.web.guard import App, Guard
from askwise.web.live import Live
from askwise.web.people import People
from askwise.web.sweep import add_sweep
from askwise.web.team import Following
from askwise.web.team_routes import add_team_routes

STATIC = Path(__file__).parent / "static"

_REFUSALS: Mapping[int, str] = {
    400: "It makes no sense as it is",
    401: "The token is missing or wrong",
    403: "A page of another site asks, or not the owner",
    404: "There is no such thing",
    405: "Not by this method",
    409: "Not now, or no longer",
    413: "It is too large",
    414: "The address is too long",
    415: "It is no JSON",
    421: "It was sent to another host",
    422: "A field is missing, or has a wrong value",
    429: "Too many requests",
    503: "The store cannot be used just now",
}
_PAUSE, _QUIET = 0.5, 15.0  # seconds between two looks for news, and between two signs of life
_FOLLOWED = 1.0  # seconds between two looks for people who lost their access on another server
_PATIENCE = 3.0  # seconds that `why` waits for the trainer

Count = Annotated[int, Query(ge=1, le=200)]
Item = Annotated[str, models.StringConstraints(max_length=64)]


def make_app(
    desk: Desk,
    live: Live,
    *,
    people: People,
    hosts: frozenset[str],
    base: str = "",
    per_second: int | float = 200,
) -> App:
    """The whole application behind its guard; `live` begins and ends with it.

    `base` is the address of the page as others reach it.
    """
    app = FastAPI(
        title="askwise",
        summary="Answer questions; the model learns meanwhile.",
        docs_url=None,
        redoc_url=None,
        lifespan=lambda _: _running(desk, live, people),
        responses={
            code: {"model": models.Problem, "description": words} for code, words in _REFUSALS.items()
        },
    )
    _add_questions(app, desk, live, people)
    _add_labels(app, desk, live, people)
    _add_items(app, desk, live)
    _add_standing(app, desk, live, people)

    def sees_all(name: str) -> bool:
        """Whether somebody may see what others have said: the owner alone."""
        return name == people.owner

    add_check(app, desk, live, sees_all=sees_all)
    add_find(app, desk, live, sees_all=sees_all)
    add_certify(app, desk, live)
    add_sweep(app, desk, live)
    add_team_routes(app, desk, people, base=base, changed=live.wake)
    _add_errors(app)

    @app.get("/", include_in_schema=False)
    def index() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, people=people, hosts=hosts, per_second=per_second)


@asynccontextmanager
async def _running(desk: Desk, live: Live, people: People) -> AsyncIterator[None]:
    """Trainer and encoder run, and people who lost their access elsewhere are followed, until the end."""
    live.start()
    following = Following(desk, people)

    async def follow() -> None:
        while True:
            await sleep(_FOLLOWED)
            with suppress(AskwiseError):  # the database is away; the next look may find it
                await run_sync(following.look)

    try:
        async with create_task_group() as tasks:
            tasks.start_soon(follow)
            yield
            tasks.cancel_scope.cancel()
    finally:
        await run_sync(live.stop)
        desk.close()


def _add_questions(app: FastAPI, desk: Desk, live: Live, people: People) -> None:
    """The project, its questions and their answers."""

    @app.get("/api/project")
    def project(request: Request) -> models.ProjectShown:
        """What is labelled: task, classes with their keys, where the items stand."""
        revision = desk.store.revision
        return models.ProjectShown(
            name=desk.project.folder.resolve().name,
            task=desk.task,
            kind=desk.media.kind,
            classes=shown(desk.classes),
            counts=desk.counts(),
            encoder=None if desk.encoder is None else desk.encoder.record.name,
            revision=revision,
            annotator=_who(request),
            owner=_who(request) == people.owner,
        )

    @app.get("/api/questions")
    def questions(
        request: Request,
        n: Annotated[int, Query(ge=1, le=MOST_LEASED)] = 8,
        keep: Annotated[str | None, Query(max_length=1000)] = None,
    ) -> models.Questions:
        """Questions for this annotator, best first, leased for a while.

        `keep` names those, between commas, that stay; others that are held are given back if newer ones
        have been asked since.
        """
        kept = None if keep is None else [name for name in keep.split(",") if name]
        found = desk.questions(_who(request), n, kept)
        return models.Questions(questions=found, reason=None if found else standing.reason(desk, live))

    @app.post("/api/answers")
    def answers(request: Request, given: models.AnswersGiven) -> models.AnswersKept:
        """Keep answers; 200 means that they are on the disk. The same key again gets the same reply."""
        kept = desk.answer(_who(request), given)
        live.wake()
        return kept


def _add_labels(app: FastAPI, desk: Desk, live: Live, people: People) -> None:
    """What was answered so far, and the classes that it is answered with."""

    @app.get("/api/history")
    def history(
        request: Request,
        text: Annotated[str, Query(max_length=200)] = "",
        class_: Annotated[str | None, Query(alias="class", max_length=200)] = None,
        before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        n: Count = 50,
        everybody: bool = False,
    ) -> models.History:
        """Answers, newest first, with a text in name or note, or of a class.

        One's own; the owner may see those of `everybody`: people do not see what others have said.
        """
        who = None if everybody and _who(request) == people.owner else _who(request)
        found, more = desk.history(text=text, name=class_ or None, before=before, count=n, who=who)
        return models.History(answers=found, more=more)

    @app.post("/api/classes")
    def classes(request: Request, given: models.ClassEditGiven) -> models.Classes:
        """Change the classes, as they were seen at a revision."""
        to = given.to if isinstance(given.to, list) else [given.to] if given.to else []
        revision = edit_classes(
            desk.project, desk.store, given.edit, given.name, to, by=_who(request), seen=given.revision
        )
        live.trainer.restart()
        return models.Classes(revision=revision, classes=shown(desk.classes))


def _add_items(app: FastAPI, desk: Desk, live: Live) -> None:
    """One item: its picture, its text, what the model would say; and those it is unsure about."""

    def known(item: str) -> str:
        try:
            return desk.find(item)
        except KeyError:
            raise HTTPException(404, "there is no such item") from None

    @app.get("/api/items/{item}/image", response_class=Response, responses={200: _PICTURE})
    def image(item: Item, w: Annotated[int, Query(ge=1, le=4096)] = 1024) -> Response:
        """The item as a picture, encoded anew."""
        return Response(desk.media.picture(known(item), largest=w), media_type="image/webp")

    @app.get("/api/items/{item}/text")
    def text(item: Item) -> models.Text:
        """The whole text of an item, or its columns."""
        identity = known(item)
        if desk.media.kind == "row":
            return models.Text(text="", row=desk.media.row(identity))
        return models.Text(text=desk.media.text(identity))

    @app.get("/api/items/{item}/why")
    def why(item: Item) -> models.Why:
        """What the model would guess, how sure it is, and the labelled items most alike."""
        identity = known(item)
        found = live.guess(identity, patience=_PATIENCE)
        if found is None:
            raise HTTPException(409, "no model yet")
        return _why(desk, found)

    @app.get("/api/unsure")
    def unsure(n: Count = 12) -> models.Unsure:
        """Items the model is unsure about."""
        return models.Unsure(items=[_unsure(desk, one) for one in live.unsure(n)])


def _add_standing(app: FastAPI, desk: Desk, live: Live, people: People) -> None:
    """How the project stands, now and whenever it changes."""

    @app.get("/api/status")
    def status() -> models.Status:
        """How the project stands, and what to do next."""
        return standing.status(desk, live)

    @app.get("/api/events", response_class=StreamingResponse, responses={200: _STREAM})
    async def events(request: Request) -> StreamingResponse:
        """The status whenever it changes, as server-sent events."""
        return StreamingResponse(_events(request, desk, live, people), media_type="text/event-stream")


_PICTURE: dict[str, Any] = {"content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}}}
_STREAM: dict[str, Any] = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}


async def _events(request: Request, desk: Desk, live: Live, people: People) -> AsyncIterator[str]:
    last, quiet = "", 0.0
    while people.token(_who(request)) is not None and not await request.is_disconnected():
        now = (await run_sync(standing.status, desk, live)).model_dump_json()
        if now != last:
            last, quiet = now, 0.0
            yield f"event: status\ndata: {now}\n\n"
        elif quiet >= _QUIET:
            quiet = 0.0
            yield ": still here\n\n"
        await sleep(_PAUSE)
        quiet += _PAUSE


def _who(request: Request) -> str:
    name: str = request.state.annotator
    return name


def _named(desk: Desk, found: Guess) -> list[models.Probability]:
    """Classes or tags by probability, those that the model knows."""
    pairs = zip(desk.classes.names, found.probabilities, strict=False)
    return sorted((models.Probability(name=n, p=p) for n, p in pairs), key=lambda one: -one.p)


def _guess(desk: Desk, found: Guess) -> str:
    """What the model would say, in words."""
    if found.number is not None:
        return f"{found.number:.4g}"
    ranked = _named(desk, found)
    if desk.task == "multilabel":
        return ", ".join(one.name for one in ranked if one.p > 0.5) or "none of the tags"
    return ranked[0].name if ranked else "?"


def _why(desk: Desk, found: Guess) -> models.Why:
    ranked, classes = _named(desk, found), desk.classes
    near = [
        models.Neighbour(item=opaque(name), name=desk.name(name), label=label)
        for name in found.neighbours
        if (label := _said(desk.shown_label(desk.ledger.labels.get(name), classes))) is not None
    ]
    return models.Why(
        guess=_guess(desk, found),
        probabilities=ranked[:5],
        uncertainty=models.Uncertainty(
            total=found.total, epistemic=found.epistemic, aleatoric=found.aleatoric
        ),
        neighbours=near,
    )


def _said(label: str | float | list[str] | None) -> str | None:
    if isinstance(label, list):
        return ", ".join(label) or "none of the tags"
    return None if label is None else str(label)


def _unsure(desk: Desk, found: Guess) -> models.UnsureItem:
    return models.UnsureItem(
        item=opaque(found.id),
        name=desk.name(found.id),
        guess=_guess(desk, found),
        uncertainty=found.total,
    )


def _add_errors(app: FastAPI) -> None:
    """Every refusal is one sentence."""

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return _problem(422, f"{where}: {first['msg']}")

    @app.exception_handler(AskwiseError)
    async def refused(_: Request, error: AskwiseError) -> JSONResponse:
        if isinstance(error, StaleError):
            return _problem(409, "somebody changed it meanwhile; look again")
        if isinstance(error, BusyError):
            return _problem(409, str(error))
        return _problem(400 if isinstance(error, InputError) else 503, str(error))


def _problem(code: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": " ".join(sentence.split())[:1000]}, status_code=code)

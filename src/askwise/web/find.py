"""The routes of Find: more like this, of a class, by words, on a map; without items kept for testing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field, StringConstraints
from starlette.exceptions import HTTPException

from askwise.errors import InputError
from askwise.store.labels import Label
from askwise.web.desk import Desk, opaque
from askwise.web.live import Live
from askwise.web.models import Given, Opaque

MOST = 200
"""Items of one reply."""
DRAWN = 3_000
"""Points of a map: more of them only hide each other."""
_SECONDS = 0.5  # for a search by words
_PART = 1_000  # items between two looks at the clock

Count = Annotated[int, Query(ge=1, le=MOST)]
Item = Annotated[str, StringConstraints(max_length=64)]
Share = Annotated[float, Field(ge=-1, le=2, allow_inf_nan=False)]


class FoundItem(BaseModel):
    """An item that was found; its label where it has one, and how well it fits from 0 to 1."""

    item: Opaque
    name: str
    label: str | float | list[str] | None
    fits: float | None = None


class FoundItems(BaseModel):
    """Items, best first; how many there are in all where that is known, and how many were looked at."""

    items: list[FoundItem]
    of: int | None = None
    looked_at: int


class Point(BaseModel):
    """An item on the map, both axes from 0 to 1."""

    item: Opaque
    x: float
    y: float
    label: str | None


class PoolMap(BaseModel):
    """A uniform sample of the items, and labelled ones, on the pool's two principal axes."""

    points: list[Point]
    of: int


class Lasso(Given):
    """The corners of a polygon on the map."""

    corners: Annotated[list[tuple[Share, Share]], Field(min_length=3, max_length=500)]
    n: Annotated[int, Field(ge=1, le=MOST)] = 60


def add_find(app: FastAPI, desk: Desk, live: Live, *, sees_all: Callable[[str], bool]) -> None:
    """Add the routes; `sees_all` says who may see the labels that others have given."""

    def labels(request: Request) -> dict[str, Label]:
        who: str = request.state.annotator
        known = desk.ledger.refresh().labels
        if sees_all(who):
            return known
        own = {one.id for one in desk.answers() if one.annotator == who}
        return {name: label for name, label in known.items() if name in own}

    @app.get("/api/similar/{item}")
    def similar(request: Request, item: Item, n: Count = 60) -> FoundItems:
        """The items whose features are most like this one's."""
        try:
            identity = desk.find(item)
        except KeyError:
            raise HTTPException(404, "there is no such item") from None
        found = live.request("alike", items=[identity], count=n)
        return _found(desk, labels(request), found["ids"], found["scores"], looked_at=found["looked_at"])

    @app.get("/api/guessed")
    def guessed(
        request: Request,
        class_: Annotated[str, Query(alias="class", min_length=1, max_length=200)],
        order: Literal["sure", "unsure"] = "sure",
        n: Count = 60,
    ) -> FoundItems:
        """Items without a label that the model would give a class, the surest or the least sure first."""
        found = live.request("of_class", name=class_, unsure=order == "unsure", count=n)
        return _found(desk, labels(request), found["ids"], found["scores"], looked_at=found["looked_at"])

    @app.get("/api/search")
    def search(
        request: Request, text: Annotated[str, Query(min_length=1, max_length=200)], n: Count = 60
    ) -> FoundItems:
        """Items with all these words in their text or name, in capitals or not."""
        words = text.casefold().split()
        if not words:
            raise InputError("type a word to look for")
        ids, looked = _search(desk, words, n)
        return _found(desk, labels(request), ids, None, looked_at=looked)

    @app.get("/api/map")
    def pool_map(request: Request) -> PoolMap:
        """The pool on its two principal axes."""
        found = live.request("map", count=DRAWN)
        classes, known = desk.classes, labels(request)
        points = [
            Point(item=opaque(name), x=x, y=y, label=_word(desk.shown_label(known.get(name), classes)))
            for name, (x, y) in zip(found["ids"], found["places"], strict=True)
        ]
        return PoolMap(points=points, of=found["of"])

    @app.post("/api/lasso")
    def lasso(request: Request, given: Lasso) -> FoundItems:
        """The items within a polygon on the map: of all items, not only of those that are drawn."""
        found = live.request("inside", corners=given.corners, count=given.n)
        return _found(desk, labels(request), found["ids"], None, of=found["of"], looked_at=found["of"])


def _found(
    desk: Desk,
    labels: Mapping[str, Label],
    ids: list[str],
    fits: list[float] | None,
    *,
    looked_at: int,
    of: int | None = None,
) -> FoundItems:
    classes = desk.classes
    scores: Iterable[float | None] = [None] * len(ids) if fits is None else fits
    return FoundItems(
        items=[
            FoundItem(
                item=opaque(name),
                name=desk.name(name),
                label=desk.shown_label(labels.get(name), classes),
                fits=None if fit is None else round(fit, 4),
            )
            for name, fit in zip(ids, scores, strict=True)
        ],
        of=of,
        looked_at=looked_at,
    )


def _search(desk: Desk, words: list[str], count: int) -> tuple[list[str], int]:
    """Items that have all the words, in the order of the pool, and how many were looked at in the time."""
    end, found, looked = monotonic() + _SECONDS, list[str](), 0
    for identity, text in _texts(desk):
        looked += 1
        low = text.casefold()
        if all(word in low for word in words):
            found.append(identity)
            if len(found) == count:
                break
        if looked % _PART == 0 and monotonic() > end:
            break
    return found, looked


def _texts(desk: Desk) -> Iterator[tuple[str, str]]:
    """Every item that may be listed, with its name and its text."""
    testing = desk.testing.refresh(desk.store.ids(), desk.store.count())
    bad, text = desk.ledger.quarantined, desk.media.kind == "text"
    for identity in desk.pool.ids:
        if identity not in testing and identity not in bad:
            name = desk.name(identity)
            yield identity, f"{name}\n{desk.media.text(identity)}" if text else name


def _word(label: str | float | list[str] | None) -> str | None:
    """A label as a colour of the map: of tags the first."""
    if isinstance(label, list):
        return label[0] if label else None
    return None if label is None else str(label)

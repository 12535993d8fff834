"""The routes of Sweep: a grid of one class out, what is wrong in it back, and one undo for the whole."""

from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field, StringConstraints

from askwise.errors import InputError
from askwise.web import models
from askwise.web.desk import Desk, opaque
from askwise.web.live import Live
from askwise.web.sweep_facts import confirm, take_back
from askwise.web.sweeping import FEWEST, LARGEST, SIZE, Grid, Offer, Past, Sweeps

_LONGEST, _COLUMNS = 1000, 12  # letters and columns that a tile may need
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class TileShown(BaseModel):
    """An item of a grid; nothing tells a sentinel from the others."""

    item: models.Opaque
    name: str
    kind: models.Kind
    text: str | None = None
    row: list[tuple[str, str]] | None = None


class OfferShown(BaseModel):
    """A class that can be swept: how many items, and the share of the next grid expected to be right."""

    name: str
    count: int
    precision: float


class MissesShown(BaseModel):
    """How many known items a person has missed, as a share with its interval of 95 %."""

    missed: int
    shown: int
    rate: float
    low: float
    high: float


class GridShown(BaseModel):
    """Items to confirm as one class."""

    id: str
    name: str
    revision: int
    tiles: list[TileShown]
    precision: float | None


class SweepShown(BaseModel):
    """What can be swept, and the grid of one class; without one, why."""

    offers: list[OfferShown]
    grid: GridShown | None
    misses: MissesShown
    state: Literal["whole", "halved", "resting"]
    to_check: int
    reason: str | None


class WrongGiven(models.Given):
    """A tile that is not of the class, and what it is where somebody says so."""

    item: models.Opaque
    value: models.Short | None = None


class SweepGiven(models.Given):
    """What a person made of a grid; `key` names the act, so that it is stored once however often sent."""

    key: models.Key
    name: models.Short
    revision: Annotated[int, Field(ge=0, le=2**53)]
    tiles: Annotated[list[models.Opaque], Field(max_length=LARGEST)]
    wrong: Annotated[list[WrongGiven], Field(max_length=LARGEST, default_factory=list)]
    undo: bool = False
    shown_ms: Annotated[int, Field(ge=0, le=10**9)] = 0


class SweepKept(BaseModel):
    """A grid that is on the disk, and how many labels came of it."""

    key: str
    revision: int
    labels: int


def add_sweep(app: FastAPI, desk: Desk, live: Live) -> None:
    """Adds the routes of Sweep."""
    sweeps = Sweeps(desk)

    @app.get("/api/sweep")
    def sweep(
        request: Request,
        class_: Annotated[str | None, Query(alias="class", max_length=200)] = None,
        n: Annotated[int, Query(ge=1, le=LARGEST)] = SIZE,
        items: Annotated[str | None, Query(max_length=25 * LARGEST)] = None,
    ) -> SweepShown:
        """What can be swept, and a grid of a class: of the largest offer where none is named.

        `items`, between commas, are a person's own choice for the class, in the place of the model's.
        """
        who: str = request.state.annotator
        before = sweeps.past(who)
        offers = sweeps.offers(who, live.sweepable, size=n)
        wanted = offers[0] if offers and not class_ else None
        if class_:
            number = _number(desk, class_)
            wanted = next((one for one in offers if one.number == number), None)
            if items:
                picked = [_found(desk, one) for one in items.split(",") if one]
                wanted = sweeps.chosen(who, number, picked)
        grid = sweeps.grid(who, wanted, size=n) if wanted is not None and wanted.ids else None
        return _shown(desk, offers, grid, before, n, own=bool(items))

    @app.post("/api/sweeps/{sweep}")
    def kept(request: Request, sweep: Id, given: SweepGiven) -> SweepKept:
        """Keep a whole grid, or take it back; 200 means that it is on the disk; the same key is one act."""
        who: str = request.state.annotator
        if given.undo:
            undone = take_back(desk, who, sweep=sweep, key=given.key)
            revision = desk.store.revision if undone is None else undone.revision
            live.wake()
            return SweepKept(key=given.key, revision=revision, labels=0)
        fact = confirm(
            desk,
            who,
            sweep=sweep,
            key=given.key,
            number=_number(desk, given.name),
            revision=given.revision,
            tiles=list(dict.fromkeys(_found(desk, one) for one in given.tiles)),
            wrong={
                _found(desk, one.item): None if one.value is None else _number(desk, one.value)
                for one in given.wrong
            },
            seconds=given.shown_ms / 1000,
        )
        live.wake()
        labels = sum(one.revision == fact.revision for one in desk.answers())
        return SweepKept(key=given.key, revision=fact.revision, labels=labels)


def _number(desk: Desk, name: str) -> int:
    classes = desk.classes
    if desk.task != "classification":
        raise InputError("a grid holds items of one class, and this project has none")
    for number in classes.active():
        if classes.names[number] == name:
            return number
    raise InputError(f"there is no class {name!r}")


def _found(desk: Desk, item: str) -> str:
    try:
        return desk.find(item)
    except KeyError:
        raise InputError("there is no such item") from None


def _shown(
    desk: Desk, offers: list[Offer], grid: Grid | None, before: Past, wanted: int, *, own: bool
) -> SweepShown:
    names, found = desk.classes.names, before.misses
    state: Literal["whole", "halved", "resting"] = "resting" if before.to_check else "whole"
    if not before.to_check and before.size(wanted) < wanted:
        state = "halved"
    return SweepShown(
        offers=[
            OfferShown(name=names[one.number], count=len(one.ids), precision=round(one.precision, 3))
            for one in offers
        ],
        grid=None
        if grid is None
        else GridShown(
            id=grid.sweep,
            name=names[grid.number],
            revision=grid.revision,
            tiles=[_tile(desk, one) for one in grid.tiles],
            precision=None if own or grid.precision is None else round(grid.precision, 3),
        ),
        misses=MissesShown(
            missed=found.missed,
            shown=found.shown,
            rate=round(found.rate, 4),
            low=round(found.low, 4),
            high=round(found.high, 4),
        ),
        state=state,
        to_check=len(before.to_check),
        reason=None if grid is not None else _reason(desk, before, own=own),
    )


def _reason(desk: Desk, before: Past, *, own: bool) -> str:
    """Why there is no grid."""
    if desk.task != "classification":
        return "Sweep is for classes: each item has one."
    if before.to_check:
        one, all_ = before.misses.missed, before.misses.shown
        return (
            f"Sweep rests: {one} of {all_} known items were missed. "
            f"Check the {len(before.to_check)} items of the last two grids, and it goes on."
        )
    left = desk.room()
    if left < (1 if own else FEWEST):
        return (
            f"The budget of {desk.plan.budget} labels has room for {max(0, left)} more. Answer them in Ask, "
            f"or raise `budget` in {desk.project.plan} and start again."
        )
    if own:
        return "None of these items can be labelled here: they have a label, or somebody is asked about them."
    return "No class is sure enough yet: a grid comes when four of five items are expected to be right."


def _tile(desk: Desk, identity: str) -> TileShown:
    kind = desk.media.kind
    return TileShown(
        item=opaque(identity),
        name=desk.name(identity),
        kind=kind,
        text=desk.media.text(identity)[:_LONGEST] if kind == "text" else None,
        row=desk.media.row(identity)[:_COLUMNS] if kind == "row" else None,
    )

"""The routes for the owner alone: people, agreement, and the last word on an item."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException

from askwise.web import models, team, team_models
from askwise.web.desk import Desk
from askwise.web.people import People


def add_team_routes(
    app: FastAPI, desk: Desk, people: People, *, base: str, changed: Callable[[], None]
) -> None:
    """Add them; `base` is the page's address as others reach it, `changed` is called when labels have."""

    def owner(request: Request) -> str:
        name: str = request.state.annotator
        if name != people.owner:
            raise HTTPException(403, "only the owner of the page may do that")
        return name

    @app.get("/api/people")
    def everybody(request: Request) -> team_models.PeopleShown:
        """Everybody with their links, what they answered and when, and what was done; for the owner."""
        owner(request)
        return team.shown(desk, people, base=base)

    @app.post("/api/people")
    def person(request: Request, given: team_models.PersonGiven) -> team_models.PeopleShown:
        """Give somebody a link, or end their access at once; for the owner."""
        by = owner(request)
        (team.give_access if given.access else team.take_access)(desk, people, given.name, by=by)
        return team.shown(desk, people, base=base)

    @app.get("/api/agreement")
    def agreement(request: Request) -> team_models.AgreementShown:
        """How far people agree by their blind answers, and where they do not; for the owner."""
        owner(request)
        return team.agreeing(desk)

    @app.post("/api/resolutions")
    def resolution(request: Request, given: team_models.ResolutionGiven) -> models.Kept:
        """Say what holds for an item whatever its answers say, or take that back; for the owner."""
        by = owner(request)
        try:
            revision = team.resolve(desk, given, by=by)
        except KeyError:
            raise HTTPException(404, "there is no such item") from None
        changed()
        return models.Kept(key=given.key, revision=revision)

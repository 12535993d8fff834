"""What goes over the wire between the page and the owner of a team: people, agreement and last words."""

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from askwise.web.models import MOST_NOTE, Given, Key, Opaque, Value, Verdict


class PersonGiven(Given):
    """Somebody who is to have access to the page, or to lose it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    access: bool = True


class PersonShown(BaseModel):
    """Somebody who answers: what they have answered and when, and their link, which only the owner sees."""

    name: str
    owner: bool
    access: bool
    answers: int
    labels: int
    held: int
    last: str | None
    link: str | None
    qr: list[str] | None
    """The rows of the link's QR code, 1 for a dark module."""


class ActShown(BaseModel):
    """What somebody did to the project itself."""

    at: str | None
    by: str
    act: str
    about: str


class PeopleShown(BaseModel):
    """Everybody, and the last acts, newest first."""

    people: list[PersonShown]
    acts: list[ActShown]


class PairShown(BaseModel):
    """Two people, the items that both answered blind, and Cohen's kappa where it says something."""

    first: str
    second: str
    items: int
    cohen: float | None


class WordShown(BaseModel):
    """The last word of one person about an item."""

    annotator: str
    verdict: Verdict
    value: str | float | list[str] | None
    at: str | None
    assisted: bool


class DisagreementShown(BaseModel):
    """An item on which people differ."""

    item: Opaque
    name: str
    answers: list[WordShown]


class AgreementShown(BaseModel):
    """Agreement by blind answers alone, and what waits for a last word."""

    items: int
    same: float | None
    krippendorff: float | None
    fleiss: float | None
    pairs: list[PairShown]
    disagreements: list[DisagreementShown]
    waiting: int


class ResolutionGiven(Given):
    """The last word on an item, or that it is taken back; `key` names the act."""

    key: Key
    item: Opaque
    verdict: Verdict
    value: Value = None
    note: Annotated[str, StringConstraints(max_length=MOST_NOTE)] = ""

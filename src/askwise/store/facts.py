"""What can be known about a run: every fact is a frozen record that is appended and never edited.

`revision` is given by the store; facts appended together share it. 0 means not stored yet.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias


class NoLabel(Enum):
    """What may be told instead of a label."""

    SKIP = "skip"
    CANNOT_TELL = "cannot_tell"


SKIP: Final = NoLabel.SKIP
CANNOT_TELL: Final = NoLabel.CANNOT_TELL

Told: TypeAlias = str | int | NoLabel
"""What a person or an oracle says about one item: a class, its number, or why there is none."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One appended row."""

    revision: int = 0


@dataclass(frozen=True, kw_only=True)
class Item(Fact):
    """An item that may be asked about."""

    id: str


@dataclass(frozen=True, kw_only=True)
class Quarantine(Fact):
    """An item that cannot be read, and why; no reason means that it can be read again."""

    id: str
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ClassName(Fact):
    """The name of the class at a position; the last fact about a position holds."""

    position: int
    name: str


@dataclass(frozen=True, kw_only=True)
class Planned(Fact):
    """The plan from here on."""

    plan: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Segment(Fact):
    """The conditions from here on, and which of them changed."""

    conditions: dict[str, Any]
    changed: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Question(Fact):
    """An item that was asked: by which model (round), how strongly (score), and what it would guess."""

    id: str
    round: int
    rank: int
    score: float | None = None
    guess: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answer(Fact):
    """What was said about an item; a later answer corrects an earlier one.

    `key` names the act of answering: the same key again is the same answer, not a second one.
    """

    id: str
    key: str
    kind: str
    """`label`, `skip` or `cannot_tell`."""
    label: int | None
    author: str = ""


@dataclass(frozen=True, kw_only=True)
class Snapshot(Fact):
    """The labels a round is about to train on: all those known at revision `seen`."""

    round: int
    seen: int
    count: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Round(Fact):
    """A trained model: what it saw, where it is kept, and how good it is."""

    number: int
    seen: int
    labels: int
    weights: str
    checkpoint: str
    metrics: dict[str, Any]
    seconds: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Asked(Fact):
    """A pool was scored and questions were asked; `scores` is the hash of all the scores."""

    round: int
    scored: int
    picks: int
    scores: str
    seconds: dict[str, float]

"""What a report tells, as plain records: it can be filled from a store, a loop or a test."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from askwise.errors import InputError
from askwise.markup import framed

Number: TypeAlias = int | float
"""Whole or not; spelled out because types are checked to the letter while the tests run."""


@dataclass(frozen=True)
class Curve:
    """A measure on the test items for every seed after every round, and the labels trained on by then.

    `measure` is its name, by default accuracy; a `share` lies between 0 and 1. `validation` labels were
    needed besides: they count in every total.
    """

    name: str
    seeds: Sequence[int]
    labels: Sequence[int]
    values: Sequence[Sequence[Number]]
    validation: int = 0
    measure: str = "accuracy"
    share: bool = True

    def __post_init__(self) -> None:
        if not self.labels or any(after <= before for before, after in pairwise(self.labels)):
            raise InputError(f"labels of curve {self.name!r} must grow from round to round")
        if not self.seeds or len(self.values) != len(self.seeds):
            raise InputError(
                f"curve {self.name!r} has {len(self.seeds)} seeds and {len(self.values)} rows "
                f"of {self.measure}"
            )
        for row in self.values:
            if len(row) != len(self.labels):
                raise InputError(f"curve {self.name!r} has {len(self.labels)} rounds and a row of {len(row)}")
            if not all(math.isfinite(value) and (0 <= value <= 1 or not self.share) for value in row):
                within = "lie between 0 and 1" if self.share else "be finite"
                raise InputError(f"{self.measure} of curve {self.name!r} must {within}")


@dataclass(frozen=True)
class Measured:
    """Every measure of one round that is a single number, by name; None where there is nothing to measure."""

    round: int
    labels: int
    values: Mapping[str, Number | None]


@dataclass(frozen=True)
class Point:
    """A number of a test item: the truth, the mean prediction and its standard deviation."""

    truth: Number
    mean: Number
    deviation: Number


@dataclass(frozen=True)
class Bin:
    """Test items of about equal confidence: their mean confidence, their accuracy, how many."""

    confidence: Number
    accuracy: Number
    count: int


@dataclass(frozen=True)
class Calibration:
    """How far a round's model could be believed; `bins` may be empty."""

    round: int
    labels: int
    ece: Number
    nll: Number
    brier: Number
    bins: Sequence[Bin] = ()
    validation: int = 0  # labels, besides those trained on

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in (self.ece, self.nll, self.brier)):
            raise InputError(f"calibration of round {self.round} must be finite numbers")


@dataclass(frozen=True)
class Shown:
    """An item as the report shows it: a picture (PNG bytes) or a text, and what was thought of it."""

    id: str
    picture: bytes | None = None
    text: str | None = None
    score: Number | None = None
    guess: str | None = None
    sure: Number | None = None  # the model's probability of its guess
    label: str | None = None  # None where nobody has answered
    round: int | None = None
    judged: bool = True  # whether a guess is either right or wrong, as numbers are not
    more: Sequence[tuple[str, bytes]] = ()  # pictures beside it, with what they show


@dataclass(frozen=True)
class Spent:
    """Seconds of one round by phase, e.g. `{"train": 1.2, "score": 0.3}`."""

    round: int
    seconds: Mapping[str, Number]

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) and value >= 0 for value in self.seconds.values()):
            raise InputError(f"seconds of round {self.round} must be finite and not negative")


@dataclass(frozen=True)
class Segment:
    """A stretch of the run under the same conditions."""

    first_round: int
    conditions: Mapping[str, Any]
    changed: Sequence[str] = ()


@dataclass(frozen=True)
class Content:
    """Everything in a report; what is left empty has no section.

    `confusion[i][j]` counts test items of class i that were taken for j; `recall[i]` is the share of
    class i that was told right, None if the test has none; `balance[i]` counts labels of class i.
    `overlap[i]` is the intersection by union of class i in masks. `measured` has every measure of every
    round of a task without a calibration, `points` predicted numbers.
    `subject` says which run the sections after the curves are about.
    """

    curves: Sequence[Curve]
    title: str = "What the network asked"
    subject: str = ""
    baseline: str = "random"
    facts: Mapping[str, Any] = field(default_factory=dict)
    classes: Sequence[str] = ()
    calibration: Sequence[Calibration] = ()
    measured: Sequence[Measured] = ()
    points: Sequence[Point] = ()
    overlap: Sequence[Number | None] = ()
    asked: Sequence[Shown] = ()
    asked_in_all: int = 0  # if more than are shown
    unsure: Sequence[Shown] = ()
    confusion: Sequence[Sequence[int]] = ()
    recall: Sequence[Number | None] = ()
    balance: Sequence[int] = ()
    quality: Sequence[str] = ()  # what is known of the last model by test answers, in sentences
    times: Sequence[Spent] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    segments: Sequence[Segment] = ()
    made: str = ""

    def __post_init__(self) -> None:
        names = [curve.name for curve in self.curves]
        if len(set(names)) != len(names):
            raise InputError(f"every curve needs its own name; found: {', '.join(names)}")
        square = {len(self.confusion), *map(len, self.confusion)}
        if self.confusion and square != {len(self.classes)}:
            raise InputError(f"the confusion matrix must be {len(self.classes)} x {len(self.classes)}")
        if self.recall and len(self.recall) != len(self.classes):
            raise InputError(f"{len(self.classes)} classes have {len(self.recall)} recalls")
        if self.balance and len(self.balance) != len(self.classes):
            raise InputError(f"{len(self.classes)} classes have {len(self.balance)} counts of labels")

    def _repr_html_(self) -> str:
        from askwise.report.page import render  # which is made of this record

        return framed(render(self))

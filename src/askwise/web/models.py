"""What goes over the wire, each as a record that is checked; the page and OpenAPI know no other words."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Kind = Literal["image", "text", "row"]
Model = Literal["encoding", "cold", "learning", "steady"]
TaskName = Literal["classification", "multilabel", "regression"]
Verdict = Literal["label", "skip", "unclear", "retract"]
Short = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
"""The name of an act, so that it is stored once however often it is sent."""
Opaque = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{24}$")]
"""An item as the page knows it: it says nothing of the item's file."""

MOST_ANSWERS, MOST_NOTE, MOST_TAGS = 500, 2000, 1000


class Given(BaseModel):
    """What a page sends; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong, in one sentence."""

    error: str


class ClassShown(BaseModel):
    """A class with its key."""

    name: str
    key: str | None
    parent: str | None = None
    """The heading it stands under."""
    retired: bool = False
    into: list[str] = []
    """What became of it: the class that took its labels, or those that its items are asked about."""


class Counts(BaseModel):
    """Items, and where they stand; the last six sum up to the first."""

    items: int
    labelled: int
    open: int
    skipped: int
    unclear: int
    quarantined: int
    unlabelled: int


class ProjectShown(BaseModel):
    """What is labelled, and by whom."""

    name: str
    task: TaskName
    kind: Kind
    classes: list[ClassShown]
    counts: Counts
    encoder: str | None
    revision: int
    annotator: str
    owner: bool = False


class QuestionShown(BaseModel):
    """An item that this annotator is asked about, for a while."""

    question: str
    item: Opaque
    name: str
    kind: Kind
    text: str | None = None
    row: list[tuple[str, str]] | None = None
    lease_until: str


class Questions(BaseModel):
    """Questions, best first; without any, why."""

    questions: list[QuestionShown]
    reason: str | None = None


Value: TypeAlias = (
    Short
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[list[Short], Field(max_length=MOST_TAGS)]
    | None
)
"""What a label says: a class, a number, tags."""


class AnswerGiven(Given):
    """One answer as the page sends it; `key` names the act, so that it is stored once however often sent."""

    key: Key
    question: Annotated[str, StringConstraints(max_length=100)] | None = None
    item: Opaque
    verdict: Verdict
    value: Value = None
    view: Literal["ask", "history", "check", "find"] = "ask"
    assisted: bool = False
    shown_ms: Annotated[int, Field(ge=0, le=10**9)] = 0
    note: Annotated[str, StringConstraints(max_length=MOST_NOTE)] | None = None


AnswersGiven = Annotated[list[AnswerGiven], Field(max_length=MOST_ANSWERS)]


class Kept(BaseModel):
    """An answer that is on the disk, and under which revision."""

    key: str
    revision: int


class Refused(BaseModel):
    """An answer that cannot be stored, and why; sending it again does not help."""

    key: str
    error: str


class AnswersKept(BaseModel):
    """Every answer that was sent is in one of the two lists."""

    answers: list[Kept]
    refused: list[Refused]


class Text(BaseModel):
    """The whole text of an item; for a row of a table its columns."""

    text: str
    row: list[tuple[str, str]] | None = None


class Probability(BaseModel):
    """A class and how probable the model finds it."""

    name: str
    p: float


class Uncertainty(BaseModel):
    """How unsure the model is, in nats, and from what: too few labels, or an item that is unclear."""

    total: float
    epistemic: float
    aleatoric: float


class Neighbour(BaseModel):
    """A labelled item that looks alike to the model."""

    item: Opaque
    name: str
    label: str


class Why(BaseModel):
    """What the model would guess of an item, and by which labelled ones."""

    guess: str
    probabilities: list[Probability]
    uncertainty: Uncertainty
    neighbours: list[Neighbour]


class AnswerShown(BaseModel):
    """One answer of the past."""

    revision: int
    item: Opaque
    name: str
    verdict: Verdict
    value: str | float | list[str] | None
    annotator: str
    at: str | None
    assisted: bool
    note: str | None


class History(BaseModel):
    """Answers, newest first, and whether there are older ones."""

    answers: list[AnswerShown]
    more: bool


class ClassEditGiven(Given):
    """A change of the classes, by somebody who has seen them at `revision`."""

    edit: Literal["add", "rename", "retire", "merge", "split", "parent"]
    name: Short
    to: Short | Annotated[list[Short], Field(max_length=50)] | None = None
    """Another name, the class that takes the labels, the parts of a split, or a heading."""
    revision: Annotated[int, Field(ge=0, le=2**53)]


class Classes(BaseModel):
    """The classes after a change."""

    revision: int
    classes: list[ClassShown]


class UnsureItem(BaseModel):
    """An item the model is unsure about."""

    item: Opaque
    name: str
    guess: str
    uncertainty: float


class Unsure(BaseModel):
    """Items the model is unsure about, the most uncertain first."""

    items: list[UnsureItem]


class Balance(BaseModel):
    """A class and how many labels it has."""

    name: str
    count: int


class Point(BaseModel):
    """Accuracy after so many labels."""

    labels: int
    accuracy: float | None


class Accuracy(BaseModel):
    """Accuracy with the band that holds at every look, and a sentence on it."""

    value: float | None
    low: float
    high: float
    said: str


class Measure(BaseModel):
    """How good the model of numbers or tags is: an estimate without a band, and a sentence on it."""

    name: str
    value: float | None
    said: str


class Encoding(BaseModel):
    """How many items have features, and how long the others take."""

    done: int
    of: int
    seconds_left: float | None
    encoder: str | None = None
    then: str | None = None
    """The encoder that goes through the items after this one; the model moves to its features."""


class Speed(BaseModel):
    """How fast this page answers."""

    per_minute: float


class Status(BaseModel):
    """How the project stands, and what to do next."""

    labels: int
    balance: list[Balance]
    seen: int
    given: int
    curve: list[Point]
    accuracy: Accuracy | None
    measure: Measure | None = None
    """Of numbers and tags, which have no accuracy; none of classes."""
    forecast: str | None = None
    """What the next labels should bring, in a sentence."""
    encoding: Encoding | None
    encoder: str | None = None
    """Whose features the model works with now."""
    encoders: str | None = None
    """What a comparison of the installed encoders by the labels said."""
    speed: Speed | None
    model: Model
    trainer: Literal["running", "restarting"]
    next: str
    revision: int

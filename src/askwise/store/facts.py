"""The facts of a run: each is a frozen record that is appended and never edited.

`revision` and `seq` are given by the store: facts appended together share a revision, and `seq` counts
all facts in the order in which they were appended. 0 means not stored yet.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

from askwise.store.labels import Label


class NoLabel(Enum):
    """What may be told instead of a label."""

    SKIP = "skip"
    CANNOT_TELL = "cannot_tell"
    RETRACT = "retract"


SKIP: Final = NoLabel.SKIP
CANNOT_TELL: Final = NoLabel.CANNOT_TELL
RETRACT: Final = NoLabel.RETRACT

Told: TypeAlias = Any
"""What a person or an oracle says about one item: a class or its number, a collection of tags, numbers, a
mask, a stored label, or a NoLabel."""

VERDICTS: Final = ("label", "skip", "cannot_tell", "retract")
QUESTION_KINDS: Final = ("learn", "test", "check")
POLICIES: Final = ("latest", "majority", "resolver")
MOVING_EDITS: Final = ("merge", "split", "retire")
"""The edits after which a label may count for another class, or for none."""
CLASS_EDITS: Final = ("add", "rename", *MOVING_EDITS, "parent")
TRAINER: Final = "trainer"
"""The role under which rounds and questions are appended."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One appended row."""

    revision: int = 0
    seq: int = 0


@dataclass(frozen=True, kw_only=True)
class About(Fact):
    """What decides where an item stands; `nth` counts such facts about it, so that a hidden one is missed."""

    id: str
    nth: int = 0


@dataclass(frozen=True, kw_only=True)
class Item(Fact):
    """An item that may be asked about."""

    id: str


@dataclass(frozen=True, kw_only=True)
class Listed(Fact):
    """The pool as it was last taken in: its hash, and how many items the store has since."""

    sha256: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Group(Fact):
    """The group an item belongs to, such as a patient or a scene; the last fact about an item holds."""

    id: str
    group: str


@dataclass(frozen=True, kw_only=True)
class Quarantine(About):
    """An item that cannot be read, and why; no reason means that it can be read again."""

    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ClassEdit(Fact):
    """A change of the classes (`CLASS_EDITS`); a class keeps its number for ever, and labels name that.

    `merge` counts the labels of `number` as those of `into`; `split` and `retire` leave them without a
    class, `split` saying which classes (`into`) to ask about instead. `parent` puts the class under a
    heading, `name`, or under none; it changes no label.
    """

    edit: str
    number: int
    name: str = ""
    into: tuple[int, ...] = ()


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
class Policy(Fact):
    """How the answers about an item become its label from here on (`POLICIES`)."""

    policy: str


@dataclass(frozen=True, kw_only=True)
class Annotator(Fact):
    """Somebody or something that answers; the last fact about a name holds."""

    annotator: str
    shown: str = ""
    """What others see; empty means the name itself."""
    kind: str = "person"
    active: bool = True


@dataclass(frozen=True, kw_only=True)
class Act(Fact):
    """What somebody did to the run itself, beside what they answered; in the same commit as what it did."""

    by: str
    act: str
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Role(Fact):
    """Who holds a role from here on; each new holder has the next epoch, and the older ones are refused."""

    role: str
    holder: str
    epoch: int


@dataclass(frozen=True, kw_only=True)
class Question(About):
    """An item that was asked: by which model (round), how strongly (score), and what it would guess.

    `question` is the question's own id, given by the store if it is empty; `needed` is how many
    answers it wants. Of `kind` learn it is trained on, test and check it is not.
    """

    round: int
    rank: int
    score: float | None = None
    guess: Label | None = None
    question: str = ""
    kind: str = "learn"
    needed: int = 1


@dataclass(frozen=True, kw_only=True)
class Answer(About):
    """What one annotator said about an item; every answer is kept.

    `key` names the act of answering: the same (item, question, annotator, key) again is the same
    answer, not a second one. An answer to no question has an empty `question`.
    """

    key: str
    verdict: str
    """`label`, `skip`, `cannot_tell` or `retract`."""
    label: Label | None = None
    question: str = ""
    annotator: str = ""
    view: str = ""
    """How the item was shown."""
    assisted: bool = False
    """Whether the annotator saw what the model would guess."""
    seconds: float | None = None
    """How long the item was shown."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Sweep(Fact):
    """Many items that one annotator confirmed at once as a class, beside the answers that came of it.

    `key` names the act: confirming a grid (`sweep`), or taking it back (`undone`). `sentinels` are items that
    this annotator had labelled otherwise, `missed` those of them that passed; neither changes their labels.
    """

    sweep: str
    key: str
    annotator: str
    number: int
    """The class."""
    items: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    """Those of the items that were marked as not of the class."""
    sentinels: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    undone: bool = False


@dataclass(frozen=True, kw_only=True)
class Resolution(About):
    """What holds for an item in spite of its answers, by whose word and from which of them (their seq)."""

    verdict: str
    label: Label | None = None
    annotator: str = ""
    answers: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Snapshot(Fact):
    """The labels a round is about to train on: all those known at revision `seen`."""

    round: int
    seen: int
    count: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Encoded(Fact):
    """The features a round has seen: those of the first `count` items, by this encoder, and their hash."""

    round: int
    encoder: str
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
class Restored(Fact):
    """Where the model of a round is, if it came onto the disk after its round.

    It was in memory alone until then, or lost and trained again; under other conditions its weights differ.
    """

    round: int
    weights: str
    checkpoint: str


@dataclass(frozen=True, kw_only=True)
class Asked(Fact):
    """A pool was scored and questions were asked; `scores` is the hash of all the scores.

    `turn` counts the choices made with the same model.
    """

    round: int
    turn: int = 0
    scored: int
    picks: int
    scores: str
    seconds: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Attempt(Fact):
    """A try to certify something: what was claimed, on which facts (revision `seen`), what came of it."""

    certificate: str
    number: int
    seen: int
    claim: dict[str, Any]
    result: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Certificate(Fact):
    """What an attempt has shown."""

    certificate: str
    attempt: int
    statement: dict[str, Any]


FACTS: Final[tuple[type[Fact], ...]] = (
    Item,
    Listed,
    Group,
    Quarantine,
    ClassEdit,
    Planned,
    Segment,
    Policy,
    Annotator,
    Act,
    Role,
    Question,
    Answer,
    Sweep,
    Resolution,
    Snapshot,
    Encoded,
    Round,
    Restored,
    Asked,
    Attempt,
    Certificate,
)

FENCED: Final = (Snapshot, Encoded, Round, Restored, Asked, Question)
"""What only the holder of the trainer's role may append."""

GUARDED: Final = (Planned, ClassEdit, Policy, Resolution, Act)
"""What may be appended on condition that nothing else was since a revision (`expect`)."""

ABOUT: Final = (Quarantine, Question, Answer, Resolution)
"""What decides where an item stands."""

RULES: Final = (Policy, ClassEdit)
"""What decides how that is read, for all items."""

ONCE: Final[dict[type[Fact], tuple[tuple[str, ...], ...]]] = {
    Item: (("id",),),
    Role: (("role", "epoch"),),
    Question: (("question",),),
    Answer: (("id", "question", "annotator", "key"),),
    Sweep: (("annotator", "key"),),
    Round: (("number",),),
    Asked: (("round", "turn"),),
    Attempt: (("certificate", "number"),),
}
"""The fields, by kind of fact, that no two facts have alike."""

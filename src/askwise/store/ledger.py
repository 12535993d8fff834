"""Status of every item, updated incrementally from the facts."""

import threading
from collections.abc import Collection

from askwise.errors import CorruptError
from askwise.store.contract import Places, Store
from askwise.store.facts import ABOUT, RULES, About, Answer, Fact, Question, Resolution
from askwise.store.labels import Label
from askwise.store.standing import (
    UNLABELLED,
    Rules,
    Standing,
    gone_into,
    moves_labels,
    rules,
    standing,
    to_learn_from,
)


def changed_since(store: Store, revision: int) -> int:
    """How many labels are not what they were at a revision; it reads only what is about these items."""
    ruling = store.facts(*RULES)
    if any(fact.revision > revision and moves_labels(fact) for fact in ruling):
        return Ledger(store).changed_since(revision)
    how, changed = rules(ruling), 0
    for history in store.touched(revision).values():
        past = [fact for fact in history if fact.revision <= revision]
        before = standing(past, how).label if past else None
        changed += before != standing(history, how).label
    return changed


class Ledger:
    """Every item is in exactly one of: unlabelled, open, labelled, skipped, quarantined.

    Only items that something happened to are kept here; all others are unlabelled. Quarantine
    comes first: a label of an item that cannot be read is kept, and not trained on. The history is read
    when something of it is wanted first, and from then on only what is new. Safe for threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self.folded = False
        """Whether the history has been read."""
        self._revision = 0
        self._open: dict[str, Question] = {}
        self._labels: dict[str, Label] = {}
        self._skipped: dict[str, str] = {}
        self._quarantined: dict[str, str] = {}
        self._standing: dict[str, Standing] = {}
        self._gone: dict[str, tuple[int, ...]] = {}
        self._history: dict[str, list[About]] = {}
        self._touched: list[tuple[int, str]] = []  # in the order of their revisions
        self._ruling: list[Fact] = []  # the few facts that may change the labels of all items
        self._rules = Rules()
        self._since_when = -1  # the revision that changes were last counted from,
        self._changed: set[str] = set()  # the labels that have changed since,
        self._unsure: set[str] = set()  # and the items that are to be looked at again

    def refresh(self) -> "Ledger":
        """The ledger itself, after reading everything that was appended since."""
        with self._lock:
            new = self._store.facts(*ABOUT, *RULES, since=self._revision)
            touched: dict[str, None] = {}  # not a set: questions keep their order
            asked: dict[str, Question] = {}
            moving = [fact for fact in new if moves_labels(fact)]
            for fact in new:
                self._revision = max(self._revision, fact.revision)
                if isinstance(fact, About):
                    name = fact.id
                    past = self._history.setdefault(name, [])
                    if fact.nth != len(past):
                        raise CorruptError(
                            f"store {self._store.name} is damaged: facts about item {name!r} were hidden "
                            f"when revision {fact.revision} was written"
                        )
                    past.append(fact)
                    self._touched.append((fact.revision, name))
                    if name in self._open and isinstance(fact, Question) and fact.kind == "learn":
                        asked[name] = fact  # it waited for an answer, and goes on
                    else:
                        touched[name] = None
            if moving:
                self._ruling += moving
                self._rules = rules(self._ruling)
                self._since_when = -1
            self._open |= asked
            for name in self._history if moving else touched:
                self._place(name)
            self.folded = True
        return self

    @property
    def revision(self) -> int:
        """The last revision that it knows of."""
        return self._whole()._revision

    @property
    def rules(self) -> Rules:
        """How answers become labels by now."""
        return self._whole()._rules

    def rules_at(self, revision: int) -> Rules:
        """How answers became labels at a revision."""
        with self._lock:
            return rules(self._whole()._ruling, until=revision)

    @property
    def open(self) -> dict[str, Question]:
        """The items that wait for an answer, and the question."""
        return self._whole()._open

    @property
    def labels(self) -> dict[str, Label]:
        """The items that have a label, as it counts by now."""
        return self._whole()._labels

    @property
    def skipped(self) -> dict[str, str]:
        """The items of which somebody said that there is no label, and how."""
        return self._whole()._skipped

    @property
    def quarantined(self) -> dict[str, str]:
        """The items that cannot be read, and why."""
        return self._whole()._quarantined

    @property
    def gone(self) -> dict[str, tuple[int, ...]]:
        """The items whose class is no longer in use and that have no label since, and what it has become."""
        return self._whole()._gone

    @property
    def split(self) -> dict[str, tuple[int, ...]]:
        """The items among `gone` whose class was split."""
        return {name: among for name, among in self.gone.items() if among}

    def places(self) -> Places:
        """Where the items stand, as far as this has been refreshed."""
        with self._lock:
            return Places(len(self.open), len(self.labels), len(self.skipped), len(self.quarantined))

    @property
    def count(self) -> int:
        """How many items something happened to."""
        return len(self.labels) + len(self.open) + len(self.skipped) + len(self.quarantined)

    def known(self, identity: str) -> bool:
        """Whether anything happened to the item; all others are unlabelled."""
        return identity in self._whole()._standing

    def questions(self) -> list[Question]:
        """The open questions: the oldest first, of those asked together the best."""
        with self._lock:
            return sorted(self.open.values(), key=lambda question: (question.revision, question.rank))

    def has(self, identity: str, question: str) -> bool:
        """Whether an item was asked by this question."""
        with self._lock:
            past = self._history.get(identity, [])
            return any(isinstance(fact, Question) and fact.question == question for fact in past)

    def asked(self, identity: str, *, kinds: Collection[str] = ("learn",)) -> str:
        """The id of the last question of these kinds about an item; empty if there was none."""
        with self._lock:
            for fact in reversed(self._whole()._history.get(identity, [])):
                if isinstance(fact, Question) and fact.kind in kinds:
                    return fact.question
        return ""

    def answered(self, identity: str) -> bool:
        """Whether an item has a label, or somebody said that there is none."""
        return identity in self.labels or identity in self.skipped

    def about(self, identity: str, *, until: int | None = None) -> list[About]:
        """Everything that decides where one item stands, or stood at a revision, oldest first."""
        with self._lock:
            history = self._whole()._history.get(identity, [])
            return [fact for fact in history if until is None or fact.revision <= until]

    def history(self, identity: str) -> list[Answer]:
        """Everything that was said about one item, oldest first."""
        return [fact for fact in self.about(identity) if isinstance(fact, Answer)]

    def touched(self, since: int) -> list[str]:
        """The items that may stand elsewhere than at a revision, in the order of the last fact about them."""
        with self._lock:
            return list(reversed(self._whole()._since(since)))

    def to_learn_from(self, identity: str) -> list[Answer]:
        """What was said about one item that can be learned from, oldest first: not what tests or checks."""
        with self._lock:
            return to_learn_from(self._whole()._history.get(identity, []))

    def resolved(self, identity: str) -> Resolution | None:
        """The last word on an item, whatever it was asked for; none if it was taken back."""
        with self._lock:
            words = [one for one in self._whole()._history.get(identity, []) if isinstance(one, Resolution)]
        return words[-1] if words and words[-1].verdict != "retract" else None

    def labels_at(self, revision: int) -> dict[str, Label]:
        """The labels as they stood at a revision, in the order of their ids."""
        with self._lock:
            late = self._whole()._since(revision)
            found = {name: label for name, label in self._labels.items() if name not in late}
            how = self.rules_at(revision)
            for name in late:
                label = self._label_at(name, revision, how)
                if label is not None:
                    found[name] = label
        return dict(sorted(found.items()))

    def changed_since(self, revision: int) -> int:
        """How many labels are not what they were at a revision; asked again, it looks at what is new."""
        with self._lock:
            if self._whole()._since_when != revision:
                self._since_when, self._changed = revision, set()
                self._unsure = set(self._since(revision))
            how = self.rules_at(revision)
            for name in self._unsure:
                if self._label_at(name, revision, how) == self._labels.get(name):
                    self._changed.discard(name)
                else:
                    self._changed.add(name)
            self._unsure = set()
            return len(self._changed)

    def _whole(self) -> "Ledger":
        """Itself, once the history has been read."""
        return self if self.folded else self.refresh()

    def _since(self, revision: int) -> dict[str, None]:
        """The items that something happened to after a revision."""
        if any(fact.revision > revision for fact in self._ruling):
            return dict.fromkeys(self._history)
        found: dict[str, None] = {}
        for when, name in reversed(self._touched):
            if when <= revision:
                break
            found[name] = None
        return found

    def _label_at(self, identity: str, revision: int, how: Rules) -> Label | None:
        past = [fact for fact in self._history[identity] if fact.revision <= revision]
        return standing(past, how).label if past else None

    def _place(self, identity: str) -> None:
        now = standing(self._history[identity], self._rules)
        before = self._standing.get(identity, UNLABELLED)
        self._unsure.add(identity)
        among = gone_into(self._history[identity], self._rules)
        if among is None:
            self._gone.pop(identity, None)
        else:
            self._gone[identity] = among
        if now is UNLABELLED:
            self._standing.pop(identity, None)
        else:
            self._standing[identity] = now
        if before.place != now.place and before.place != UNLABELLED.place:
            self._held(before.place).pop(identity)
        match now.place:
            case "labelled":
                assert now.label is not None  # noqa: S101 - a labelled item has one
                self._labels[identity] = now.label
            case "open":
                self._open[identity] = self._question(identity)
            case "skipped":
                self._skipped[identity] = now.detail
            case "quarantined":
                self._quarantined[identity] = now.detail

    def _held(self, place: str) -> dict[str, object]:
        return {
            "labelled": self._labels,
            "open": self._open,
            "skipped": self._skipped,
            "quarantined": self._quarantined,
        }[place]  # type: ignore[return-value]

    def _question(self, identity: str) -> Question:
        """The last question about an item that is to be learned from."""
        return next(
            fact
            for fact in reversed(self._history[identity])
            if isinstance(fact, Question) and fact.kind == "learn"
        )

"""Status of every item, updated incrementally from the facts."""

import threading

from askwise.errors import CorruptError
from askwise.store.contract import Places, Store
from askwise.store.facts import ABOUT, About, Answer, Policy, Question
from askwise.store.labels import Label
from askwise.store.standing import UNLABELLED, Standing, standing


def changed_since(store: Store, revision: int) -> int:
    """How many labels are not what they were at a revision; it reads only what is about these items."""
    policies = store.facts(Policy)
    if policies and policies[-1].revision > revision:
        return Ledger(store).refresh().changed_since(revision)
    policy = policies[-1].policy if policies else "latest"
    changed = 0
    for history in store.touched(revision).values():
        past = [fact for fact in history if fact.revision <= revision]
        before = standing(past, policy).label if past else None
        changed += before != standing(history, policy).label
    return changed


class Ledger:
    """Every item is in exactly one of: unlabelled, open, labelled, skipped, quarantined.

    Only items that something happened to are kept here; all others are unlabelled. Quarantine
    comes first: a label of an item that cannot be read is kept, and not trained on. Safe for threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self.revision = 0
        self.open: dict[str, Question] = {}
        self.labels: dict[str, Label] = {}
        self.skipped: dict[str, str] = {}
        self.quarantined: dict[str, str] = {}
        self._standing: dict[str, Standing] = {}
        self._history: dict[str, list[About]] = {}
        self._touched: list[tuple[int, str]] = []  # in the order of their revisions
        self._policies: list[Policy] = []

    def refresh(self) -> "Ledger":
        """Itself, with everything that was appended since."""
        with self._lock:
            new = self._store.facts(*ABOUT, Policy, since=self.revision)
            touched: dict[str, None] = {}  # not a set: questions keep their order
            policies = [fact for fact in new if isinstance(fact, Policy)]
            for fact in new:
                self.revision = max(self.revision, fact.revision)
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
                    touched[name] = None
            self._policies += policies
            for name in self._history if policies else touched:
                self._place(name)
        return self

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
        return identity in self._standing

    def questions(self) -> list[Question]:
        """The open questions: the oldest first, of those asked together the best."""
        with self._lock:
            return sorted(self.open.values(), key=lambda question: (question.revision, question.rank))

    def has(self, identity: str, question: str) -> bool:
        """Whether an item was asked by this question."""
        with self._lock:
            past = self._history.get(identity, [])
            return any(isinstance(fact, Question) and fact.question == question for fact in past)

    def asked(self, identity: str) -> str:
        """The id of the last question about an item; empty if it was never asked to be learned from."""
        with self._lock:
            for fact in reversed(self._history.get(identity, [])):
                if isinstance(fact, Question) and fact.kind == "learn":
                    return fact.question
        return ""

    def answered(self, identity: str) -> bool:
        """Whether an item has a label, or somebody said that there is none."""
        return identity in self.labels or identity in self.skipped

    def history(self, identity: str) -> list[Answer]:
        """Everything that was said about one item, oldest first."""
        with self._lock:
            return [fact for fact in self._history.get(identity, []) if isinstance(fact, Answer)]

    def labels_at(self, revision: int) -> dict[str, Label]:
        """The labels as they stood at a revision, in the order of their ids."""
        with self._lock:
            late = self._since(revision)
            found = {name: label for name, label in self.labels.items() if name not in late}
            for name in late:
                label = self._label_at(name, revision)
                if label is not None:
                    found[name] = label
        return dict(sorted(found.items()))

    def changed_since(self, revision: int) -> int:
        """How many labels are not what they were at a revision; what came before it costs nothing."""
        with self._lock:
            return sum(
                self._label_at(name, revision) != self.labels.get(name) for name in self._since(revision)
            )

    def _since(self, revision: int) -> dict[str, None]:
        """The items that something happened to after a revision."""
        if any(policy.revision > revision for policy in self._policies):
            return dict.fromkeys(self._history)
        found: dict[str, None] = {}
        for when, name in reversed(self._touched):
            if when <= revision:
                break
            found[name] = None
        return found

    def _label_at(self, identity: str, revision: int) -> Label | None:
        past = [fact for fact in self._history[identity] if fact.revision <= revision]
        return standing(past, self._policy(revision)).label if past else None

    def _policy(self, revision: int | None = None) -> str:
        known = [one for one in self._policies if revision is None or one.revision <= revision]
        return known[-1].policy if known else "latest"

    def _place(self, identity: str) -> None:
        now = standing(self._history[identity], self._policy())
        before = self._standing.get(identity, UNLABELLED)
        if now is UNLABELLED:
            self._standing.pop(identity, None)
        else:
            self._standing[identity] = now
        if before.place != now.place and before.place != UNLABELLED.place:
            self._held(before.place).pop(identity)
        match now.place:
            case "labelled":
                assert now.label is not None  # noqa: S101 - a labelled item has one
                self.labels[identity] = now.label
            case "open":
                self.open[identity] = self._question(identity)
            case "skipped":
                self.skipped[identity] = now.detail
            case "quarantined":
                self.quarantined[identity] = now.detail

    def _held(self, place: str) -> dict[str, object]:
        return {
            "labelled": self.labels,
            "open": self.open,
            "skipped": self.skipped,
            "quarantined": self.quarantined,
        }[place]  # type: ignore[return-value]

    def _question(self, identity: str) -> Question:
        """The last question about an item that is to be learned from."""
        return next(
            fact
            for fact in reversed(self._history[identity])
            if isinstance(fact, Question) and fact.kind == "learn"
        )

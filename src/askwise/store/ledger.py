"""Where every item stands, folded from the facts; read again, it takes in only what is new."""

from askwise.store.contract import F, Store
from askwise.store.facts import Answer, Quarantine, Question


class Ledger:
    """Every item is in exactly one of: unlabelled, open, labelled, skipped, quarantined.

    Only items that something happened to are kept here; all others are unlabelled. Quarantine
    comes first: a label of an item that cannot be read is kept, and not trained on.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.revision = 0
        self.open: dict[str, Question] = {}
        self.labels: dict[str, int] = {}
        self.skipped: dict[str, str] = {}
        self.quarantined: dict[str, str] = {}
        self._asked: dict[str, Question] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._quarantines: dict[str, list[Quarantine]] = {}
        self._keys: dict[str, Answer] = {}

    def refresh(self) -> "Ledger":
        """Itself, with everything that was appended since."""
        with self._store.exclusive():  # another thread may be telling
            self._refresh(self._store.revision)
        return self

    def _refresh(self, now: int) -> None:
        if now == self.revision:
            return
        touched: dict[str, None] = {}  # not a set: questions keep their order
        for question in self._new(Question, now):
            self._asked[question.id] = question
            touched[question.id] = None
        for answer in self._new(Answer, now):
            self._answers.setdefault(answer.id, []).append(answer)
            self._keys[answer.key] = answer
            touched[answer.id] = None
        for quarantine in self._new(Quarantine, now):
            self._quarantines.setdefault(quarantine.id, []).append(quarantine)
            touched[quarantine.id] = None
        for identity in touched:
            self._place(identity)
        self.revision = now

    def _new(self, kind: type[F], now: int) -> list[F]:
        """What was appended since the last look, up to `now`: other threads may append meanwhile."""
        return [fact for fact in self._store.facts(kind, since=self.revision) if fact.revision <= now]

    @property
    def count(self) -> int:
        """How many items something happened to."""
        return len(self.labels) + len(self.open) + len(self.skipped) + len(self.quarantined)

    def known(self, identity: str) -> bool:
        """Whether anything happened to the item; all others are unlabelled."""
        return (
            identity in self.labels
            or identity in self.open
            or identity in self.skipped
            or identity in self.quarantined
        )

    def questions(self) -> list[Question]:
        """The open questions: the oldest first, of those asked together the best."""
        return sorted(self.open.values(), key=lambda question: (question.revision, question.rank))

    def answered(self, key: str) -> Answer | None:
        """The answer that was given under this key."""
        return self._keys.get(key)

    def history(self, identity: str) -> list[Answer]:
        """Everything that was said about one item, oldest first."""
        return list(self._answers.get(identity, []))

    def labels_at(self, revision: int) -> dict[str, int]:
        """The labels as they stood at a revision, in the order of their ids."""
        found: dict[str, int] = {}
        with self._store.exclusive():
            known = sorted(self._answers)
        for identity in known:
            past = [answer for answer in self._answers[identity] if answer.revision <= revision]
            barred = [note for note in self._quarantines.get(identity, []) if note.revision <= revision]
            if past and past[-1].label is not None and not (barred and barred[-1].reason):
                found[identity] = past[-1].label
        return found

    def _place(self, identity: str) -> None:
        for place in (self.open, self.labels, self.skipped, self.quarantined):
            place.pop(identity, None)
        notes = self._quarantines.get(identity)
        answers = self._answers.get(identity)
        if notes and notes[-1].reason:
            self.quarantined[identity] = notes[-1].reason
        elif answers and answers[-1].label is not None:
            self.labels[identity] = answers[-1].label
        elif answers:
            self.skipped[identity] = answers[-1].kind
        elif identity in self._asked:
            self.open[identity] = self._asked[identity]

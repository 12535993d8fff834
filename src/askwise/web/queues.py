"""What is worth a second look, by the facts alone: each kind a list of items, kept answers left out."""

from threading import Lock
from typing import Any

from askwise.loop.agreement import disagreements
from askwise.store.facts import Answer, Resolution
from askwise.store.labels import Label
from askwise.store.standing import gone_into
from askwise.web.desk import Desk
from askwise.web.live import Live
from askwise.web.sweeping import to_check

KINDS = ("suspects", "disagreements", "swept", "edited", "skipped", "unclear")
_MOST = 200  # suspects asked for at a time
_AGAIN = 0.1  # share of the labels that must be new before suspects are looked for again
_FEWEST = 10


class Queues:
    """The lists of one project; what costs a pass over the facts is kept until something is appended."""

    def __init__(self, desk: Desk, live: Live) -> None:
        self._desk, self._live, self._lock = desk, live, Lock()
        self._found: tuple[int, dict[str, list[str]]] | None = None
        self._suspects: tuple[int, dict[str, dict[str, Any]]] | None = None
        self._given: dict[str, Label] = {}

    def of(self, kind: str, *, who: str | None = None) -> list[str]:
        """The items of a kind, in the order in which they are shown; suspects may be looked for first.

        Of one annotator only what they have answered themselves: people do not see each other's answers.
        """
        if kind == "suspects":
            self._look()
        return self._visible(kind, who)

    def counts(self, *, who: str | None = None) -> dict[str, int | None]:
        """How many there are of each kind; none where nobody has looked yet."""
        found: dict[str, int | None] = {kind: len(self._visible(kind, who)) for kind in KINDS}
        return found if self._suspects is not None else found | {"suspects": None}

    def unchecked(self) -> str | None:
        """Why no label is held against models that have not seen it; none where they are."""
        kind = self._desk.plan.kind
        if kind != "classification":
            what = "Numbers" if kind == "regression" else "Tags"
            return f"{what} are not checked: only a label that names one class is held against the model."
        if len(self._desk.ledger.refresh().labels) < _FEWEST:
            return f"Nothing is checked yet: that begins when the model has {_FEWEST} labels to learn from."
        return None

    def suspected(self, identity: str) -> dict[str, Any] | None:
        """What the models that had not seen its label think of an item."""
        return None if self._suspects is None else self._suspects[1].get(identity)

    def said(self, identity: str) -> list[Answer]:
        """The last word of each annotator about an item, oldest first; what was taken back is none."""
        last: dict[str, Answer] = {}
        for one in self._history(identity):
            last.pop(one.annotator, None)
            last[one.annotator] = one
        return [one for one in last.values() if one.verdict != "retract"]

    def holds(self, identity: str) -> tuple[str, Label | None] | None:
        """The verdict and the label that hold by the plan's policy; none while nothing does."""
        ledger = self._desk.ledger
        if identity in ledger.labels:
            return "label", ledger.labels[identity]
        return (ledger.skipped[identity], None) if identity in ledger.skipped else None

    def _visible(self, kind: str, who: str | None) -> list[str]:
        found = self._lists()[kind]
        if who is None:
            return found
        if kind == "disagreements":
            return []
        return [name for name in found if any(one.annotator == who for one in self.said(name))]

    def _history(self, identity: str) -> list[Answer]:
        testing = self._desk.testing
        if testing.on and identity in testing:
            return testing.answers(identity)
        return self._desk.ledger.to_learn_from(identity)

    def _look(self) -> None:
        """Ask the trainer for suspects, unless the last list is of nearly the same labels."""
        labels = self._desk.ledger.refresh().labels
        known = len(labels)
        if self._suspects is not None:
            changed = sum(labels.get(name) != label for name, label in list(self._given.items()))
            changed += max(0, known - len(self._given))
            if changed < max(_FEWEST, _AGAIN * known):
                return
        if self.unchecked() is not None:
            self._suspects, self._given = None, {}
            return
        given = dict(labels)
        found = self._live.request("suspects", count=_MOST)
        with self._lock:
            self._suspects = known, {one["id"]: one for one in found}
            self._given, self._found = given, None

    def _lists(self) -> dict[str, list[str]]:
        with self._lock:
            at = self._desk.store.revision
            if self._found is None or self._found[0] != at:
                self._desk.ledger.refresh()
                self._found = at, self._derived()
            return self._found[1]

    def _derived(self) -> dict[str, list[str]]:
        desk, ledger = self._desk, self._desk.ledger
        labels, skipped = dict(ledger.labels), dict(ledger.skipped)
        skipped |= self._skipped_tests()
        suspects = [] if self._suspects is None else list(self._suspects[1])
        return {
            "suspects": [
                name for name in suspects if labels.get(name) == self._given[name] and self._open(name)
            ],
            "disagreements": [
                one.id for one in disagreements(desk.answers(), desk.store.facts(Resolution), ledger.rules)
            ],
            "swept": to_check(desk),
            "edited": [*ledger.gone, *self._gone_tests()],
            "skipped": self._waiting(skipped, "skip"),
            "unclear": self._waiting(skipped, "cannot_tell"),
        }

    def _skipped_tests(self) -> dict[str, str]:
        """Test items that were skipped: a label given now is their answer, as blind as before."""
        desk = self._desk
        if not desk.testing.on:
            return {}
        tested = desk.testing.refresh(desk.store.ids(), desk.store.count()).tested()
        last = {one.id: desk.testing.answers(one.id)[-1] for one in tested if one.label is None}
        return {name: one.verdict for name, one in last.items() if not one.assisted}

    def _gone_tests(self) -> list[str]:
        """Test items whose class is no longer in use."""
        testing = self._desk.testing
        how = testing.ledger.rules
        return [name for name, one in testing.trials.items() if gone_into(one.history(), how) is not None]

    def _waiting(self, skipped: dict[str, str], verdict: str) -> list[str]:
        return [name for name, why in skipped.items() if why == verdict and self._open(name)]

    def _open(self, identity: str) -> bool:
        """Whether nobody has looked at an item again since the last thing that was said about it."""
        history, word = self._history(identity), self._desk.ledger.resolved(identity)
        if not history or (word is not None and word.seq > history[-1].seq):
            return False
        return history[-1].view != "check"

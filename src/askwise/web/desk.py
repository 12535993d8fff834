"""A project as the server has it: its facts, its items under opaque ids, its leases; nothing is computed."""

from collections import deque
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from threading import RLock
from time import monotonic

from askwise.errors import InputError
from askwise.loop.audit import under_way
from askwise.loop.edits import refuse_gone
from askwise.loop.noted import TESTING
from askwise.loop.plan import Plan
from askwise.loop.quality import added, marks, next_labels
from askwise.loop.saying import between, forecast_sentence, measured_on, since_then
from askwise.loop.testing import Testing
from askwise.oracle.labelling import labelling
from askwise.project import Project
from askwise.project.classes import catch_up
from askwise.runs.material import material, read_plan
from askwise.store import open_store
from askwise.store.classes import Edited, edited
from askwise.store.contract import F, Lease, Taker
from askwise.store.facts import Answer, ClassEdit, Fact, Quarantine, Question, Round, Sweep
from askwise.store.labels import Label, Numbers, Tags
from askwise.store.ledger import Ledger
from askwise.web import models
from askwise.web.media import Media

LEASE = 600.0
"""Seconds that a page has a question; asking again prolongs it."""
MOST_LEASED = 64
"""Questions that one page may hold: eight, and more where it is to work without the server for a while."""
VERDICTS: dict[str, models.Verdict] = {
    "label": "label",
    "skip": "skip",
    "cannot_tell": "unclear",
    "retract": "retract",
}
STORED = {shown: stored for stored, shown in VERDICTS.items()}
_RECENT = 60.0  # seconds over which the speed of answering is taken


def opaque(identity: str) -> str:
    """An item as the page knows it: the same for ever, and nothing of its file can be read from it."""
    return sha256(f"item {identity}".encode("utf-8", "surrogateescape")).hexdigest()[:24]


class Desk:
    """What the routes ask for; safe for threads."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.plan: Plan = read_plan(project.plan)
        known = material(self.plan, folder=project.folder)
        self.pool, self.encoder = known.pool, known.encoder
        self.media = Media(self.pool, self.plan)
        self.store = open_store(project.place, access="answer")
        if catch_up(project, self.store):
            self.plan = read_plan(project.plan)
        self.ledger = Ledger(self.store)
        self.testing = Testing(self.store, self.ledger, self.plan.kept)
        self._lock = RLock()
        self._ids: dict[str, str] = {}
        self._read: dict[type[Fact], list[Fact]] = {}
        self._band: tuple[int, models.Accuracy | None] | None = None
        self._given: deque[float] = deque(maxlen=1000)

    @property
    def lock(self) -> RLock:
        """Held by whoever reads facts and appends others because of them."""
        return self._lock

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    @property
    def task(self) -> models.TaskName:
        """What an answer is."""
        known: dict[str, models.TaskName] = {
            "classification": "classification",
            "multilabel": "multilabel",
            "regression": "regression",
        }
        if self.plan.kind not in known:
            raise InputError(f"the page takes classes, tags and numbers; {self.plan.kind} is not one of them")
        return known[self.plan.kind]

    @property
    def classes(self) -> Edited:
        """The classes in use, and what became of the others."""
        return edited(self._every(ClassEdit))

    def find(self, item: str) -> str:
        """The id of an item by its opaque one; `KeyError` where there is none."""
        with self._lock:
            if item not in self._ids and len(self._ids) != self.store.count():
                self._ids = {opaque(name): name for name in self.store.ids()}
            return self._ids[item]

    def name(self, identity: str) -> str:
        """What a person calls an item."""
        return self.pool.name(identity) if identity in self.pool else identity

    def counts(self) -> models.Counts:
        """Where the items stand; the numbers sum up."""
        with self._lock:
            ledger = self.ledger.refresh()
            places = ledger.places()
            unclear = sum(why == "cannot_tell" for why in list(ledger.skipped.values()))
            items = self.store.count()
            # answers to test questions are counted like all others: nobody sees which they are
            tests = self.testing.refresh(self.store.ids(), items).tally
        known = places.open + places.labelled + places.skipped + places.quarantined
        return models.Counts(
            items=items,
            labelled=places.labelled + tests.answered,
            open=places.open,
            skipped=places.skipped - unclear + tests.skipped,
            unclear=unclear,
            quarantined=places.quarantined,
            unlabelled=items - known - tests.answered - tests.skipped,
        )

    def room(self) -> int:
        """How many labels the budget still has room for, besides the answers to what people hold."""
        return self.plan.budget - self.counts().labelled - len(self.store.leases())

    def questions(
        self, annotator: str, count: int, keep: Collection[str] | None
    ) -> list[models.QuestionShown]:
        """So many questions for one annotator: those held already, then the best that are free.

        With `keep` the others that are held are given back if something newer has been asked since, but for
        test questions: no newer model has better ones, and given back each time they would come too seldom.
        """
        with self._lock:
            now = datetime.now(UTC).timestamp()
            held = [lease for lease in self.store.leases() if lease.annotator == annotator]
            newest = max((one.revision for one in self.ledger.refresh().open.values()), default=0)
            back, kept = list[Lease](), list[Lease]()
            for lease in held:
                asked = lease.question
                spare = keep is not None and asked.question not in keep and asked.revision < newest
                if spare and asked.kind != "test" and not self._half(asked):
                    back.append(lease)
                elif lease.until - now < LEASE / 2:
                    kept += [renewed] if (renewed := self.store.renew(lease, seconds=LEASE)) else []
                else:
                    kept.append(lease)
            wanted = min(count, MOST_LEASED) - len(kept)
            if back or wanted > 0:
                taker = Taker(annotator, LEASE, kinds=("learn", "test"), newest=True)
                kept += self.store.swap(back, taker, count=wanted)
        return [shown for lease in kept if (shown := self._shown(lease)) is not None]

    def _half(self, asked: Question) -> bool:
        """Whether somebody else has answered a question that wants several answers: those come first."""
        return any(one.question == asked.question for one in self.ledger.history(asked.id))

    def _shown(self, lease: Lease) -> models.QuestionShown | None:
        identity, kind = lease.question.id, self.media.kind
        if identity not in self.pool:
            return None
        return models.QuestionShown(
            question=lease.question.question,
            item=opaque(identity),
            name=self.name(identity),
            kind=kind,
            text=self.media.text(identity) if kind == "text" else None,
            row=self.media.row(identity) if kind == "row" else None,
            lease_until=datetime.fromtimestamp(lease.until, UTC).isoformat(),
        )

    def answer(self, annotator: str, given: Sequence[models.AnswerGiven]) -> models.AnswersKept:
        """What is on the disk when this returns, and what was refused."""
        refused: list[models.Refused] = []
        good: list[Answer] = []
        with self._lock:
            self.ledger.refresh()
            for one in given:
                try:
                    good.append(self._answer(annotator, one))
                except (InputError, KeyError) as error:
                    why = "there is no such item" if isinstance(error, KeyError) else str(error)
                    refused.append(models.Refused(key=one.key, error=why))
            stored = self.store.answer(good) if good else []
            self._given.extend([monotonic()] * sum(one.verdict == "label" for one in good))
        kept = [models.Kept(key=one.key, revision=one.revision) for one in stored]
        return models.AnswersKept(answers=kept, refused=refused)

    def _answer(self, annotator: str, one: models.AnswerGiven) -> Answer:
        identity = self.find(one.item)
        if one.question and not self.ledger.has(identity, one.question):
            raise InputError("this item was not asked by that question")
        if one.verdict != "label" and one.value is not None:
            raise InputError(f"the verdict {one.verdict!r} has no value")
        return Answer(
            id=identity,
            key=one.key,
            verdict=STORED[one.verdict],
            label=self.label(one.value) if one.verdict == "label" else None,
            question=one.question or self._question(identity, annotator, one.key),
            annotator=annotator,
            view=one.view,
            assisted=one.assisted,
            seconds=one.shown_ms / 1000,
            note=one.note or "",
        )

    def _question(self, identity: str, annotator: str, key: str) -> str:
        """The question that an answer from the history is for: the last one, or that of the same answer."""
        for past in self.ledger.history(identity):
            if (past.annotator, past.key) == (annotator, key):
                return past.question
        kept = self.testing.refresh(self.store.ids(), self.store.count())
        asked = kept.trials[identity].question if identity in kept.trials else None
        if asked is not None:
            return asked.question
        if identity in kept and kept.begun:
            raise InputError("this item is kept for testing; it is asked when its turn comes")
        audited = under_way(self.store) is not None
        return self.ledger.asked(identity, kinds=("learn", "check") if audited else ("learn",))

    def accuracy(self) -> models.Accuracy | None:
        """The accuracy's band by the test answers; none while there are fewer than ten."""
        with self._lock:
            if not self.testing.on:
                return None
            at = self.store.revision
            if self._band is None or self._band[0] != at:
                self.ledger.refresh()
                kept = self.testing.refresh(self.store.ids(), self.store.count())
                self._band = at, self._measured(kept)
            return self._band[1]

    def forecast(self) -> str | None:
        """What the next labels should bring, in a sentence; none where nothing tests or with few models."""
        found = next_labels(self._tested()) if self.testing.on else None
        return None if found is None else forecast_sentence(found)

    def _tested(self) -> Round | None:
        """The last model that was tested."""
        return next((one for one in reversed(self.rounds()) if TESTING in one.metrics), None)

    def _measured(self, kept: Testing) -> models.Accuracy | None:
        last = self._tested()
        found = marks(kept, last)
        if last is None or found is None:
            return None
        try:
            one = found.band()
        except InputError:
            return None  # too few answers so far
        said = f"The accuracy is {between(one)}, measured on {measured_on(one)}."
        if new := added(kept, last.metrics[TESTING]):
            said += f" {since_then(new)}."
        return models.Accuracy(
            value=one.share if one.answers else None, low=one.low, high=one.high, said=said
        )

    def label(self, value: models.Value) -> Label:
        """The label that a value names."""
        classes = self.classes
        wanted: dict[str, tuple[type | tuple[type, ...], str]] = {
            "classification": (str, "the name of a class"),
            "multilabel": (list, "a list of tags"),
            "regression": ((float, int), "a number"),
        }
        kind, said = wanted[self.plan.kind]
        if not isinstance(value, kind):
            raise InputError(f"a label is {said}, not {value!r}")
        names = self.plan.numbers or classes.names
        label = labelling(self.plan.task, tuple(names)).label(value, what="the label")
        refuse_gone(label, self.ledger.rules, classes.names, what="the label")
        return label

    def shown_label(self, label: Label | None, classes: Edited) -> str | float | list[str] | None:
        """A label as a page shows it: the name of a class, tags, or a number."""
        match label:
            case int():
                return classes.names[label]
            case Tags():
                return [classes.names[number] for number in label.tags]
            case Numbers():
                return label.values[0]
        return None

    def answers(self) -> list[Answer]:
        """Every answer so far, oldest first."""
        return self._every(Answer)

    def rounds(self) -> list[Round]:
        """Every model so far, oldest first."""
        return self._every(Round)

    def sweeps(self) -> list[Sweep]:
        """Every grid so far, and every one that was taken back, oldest first."""
        return self._every(Sweep)

    def _every(self, kind: type[F]) -> list[F]:
        """All facts of a kind; only what is new is read."""
        with self._lock:
            known = self._read.setdefault(kind, [])
            known += self.store.facts(kind, since=known[-1].revision if known else 0)
            return list(known)  # type: ignore[arg-type]

    def history(
        self, *, text: str, name: str | None, before: int | None, count: int, who: str | None = None
    ) -> tuple[list[models.AnswerShown], bool]:
        """Answers newest first that hold a text and name a class, and whether there are older ones.

        Those of one annotator, or of all.
        """
        classes, found = self.classes, list[Answer]()
        wanted = text.casefold()
        for one in reversed(self.answers()):
            if before is not None and one.revision >= before:
                continue
            if who is not None and one.annotator != who:
                continue
            if name is not None and not _names(self.shown_label(one.label, classes), name):
                continue
            if wanted and wanted not in f"{self.name(one.id)}\n{one.note}\n{one.annotator}".casefold():
                continue
            found.append(one)
            if len(found) > count and found[-1].revision != found[-2].revision:
                break  # answers of one revision stay together, since the next page begins below it
        more = len(found) > count and found[-1].revision != found[count - 1].revision
        some = found[:-1] if more else found
        times = self.store.times({one.revision for one in some})
        return [self._past(one, classes, times) for one in some], more

    def _past(self, one: Answer, classes: Edited, times: dict[int, str]) -> models.AnswerShown:
        return models.AnswerShown(
            revision=one.revision,
            item=opaque(one.id),
            name=self.name(one.id),
            verdict=VERDICTS[one.verdict],
            value=self.shown_label(one.label, classes),
            annotator=one.annotator,
            at=times.get(one.revision),
            assisted=one.assisted,
            note=one.note or None,
        )

    def per_minute(self) -> float | None:
        """How many labels this server took in the last minute; none before the second."""
        with self._lock:
            recent = [at for at in self._given if at > monotonic() - _RECENT]
        if len(recent) < 2:
            return None
        return 60 * (len(recent) - 1) / max(recent[-1] - recent[0], 1.0)

    def bar(self, reasons: dict[str, str]) -> None:
        """Take items that cannot be read out of the pool."""
        new = {name: why for name, why in reasons.items() if name not in self.ledger.quarantined}
        self.store.append([Quarantine(id=name, reason=why) for name, why in new.items()])


def _names(shown: str | float | list[str] | None, name: str) -> bool:
    """Whether a label names a class or tag."""
    return shown == name or (isinstance(shown, list) and name in shown)

"""Certified labels: the last model's labels for all that nobody labelled, audited by checks that are facts.

An attempt is written down before its first check, with what it claims; attempt k of a run spends
(1 - confidence) / 2^k. Checks are questions of their own kind and never trained on.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from askwise.assess import CannotCertify, Open, certify
from askwise.assess import Certificate as Certified
from askwise.errors import InputError
from askwise.loop.measure import known_by
from askwise.loop.models import handed_over
from askwise.loop.plan_rules import one_class
from askwise.loop.questions import shown
from askwise.loop.setting import Setting
from askwise.loop.testing import first_seed
from askwise.oracle import Oracle
from askwise.oracle import Question as Shown
from askwise.store.classes import position
from askwise.store.contract import Store
from askwise.store.facts import Answer, Attempt, Certificate, Fact, NoLabel, Question, Round

LABELS = "labels"
"""What attempts are counted by: all of a run's certificates of labels share one risk."""

_AHEAD = 24  # checks asked together: a grid to look at


@dataclass(frozen=True)
class Audit:
    """How an attempt stands: certified labels by id, or why there are none, or the checks it waits for."""

    attempt: int
    statement: dict[str, Any]
    labels: dict[str, int]
    waits_for: list[Shown]
    """Empty when the attempt is over."""
    asked: tuple[Question, ...] = ()
    """The same as they are stored."""
    already: bool = False
    """Whether this was certified before, and nothing has changed since: nothing is asked or spent again."""


def audit(
    setting: Setting,
    *,
    error: int | float,
    confidence: int | float = 0.95,
    checks: int = 200,
    oracle: Oracle | None = None,
) -> Audit:
    """The outcome of an attempt to certify labels; without answers to its checks, the checks.

    Asked again with the same arguments it goes on with the same attempt, or tells what that has certified;
    another error, a new model or new items begin the next one.
    """
    pool, wanted = _frozen(setting), {"error": error, "confidence": confidence, "checks": checks}
    known = _certified(setting, pool, wanted)
    if known is not None:
        return known
    attempt = _attempt(setting, pool, wanted)
    while True:
        outcome = _outcome(setting, pool, attempt, _answers(setting.store, pool))
        if not isinstance(outcome, Open):
            return _ended(setting, pool, attempt, outcome)
        waiting = _asked(setting, pool, [pool.ids[at] for at in outcome.ask])
        told = oracle.answer([shown(setting, one) for one in waiting]) if oracle is not None else {}
        if not told:
            questions = [shown(setting, one) for one in waiting]
            return Audit(attempt.number, {"checks": outcome.checks}, {}, questions, tuple(waiting))
        _tell(setting, waiting, told, type(oracle).__name__.lower())


def certificate(store: Store) -> dict[str, Any] | None:
    """The last certificate of a run, and whether and why it is void by now; None if there is none."""
    found = [one for one in store.facts(Certificate) if one.statement.get("certified")]
    if not found:
        return None
    statement, rounds = found[-1].statement, store.facts(Round)
    void = ""
    if rounds and rounds[-1].weights != statement["weights"]:
        void = "the model was trained again since"
    elif store.count() != statement["items"]:
        void = "items were added since"
    return {**statement, "void": void}


def under_way(store: Store) -> dict[str, Any] | None:
    """What the attempt claims that is not over yet; None if there is none."""
    past = [one for one in store.facts(Attempt) if one.certificate == LABELS]
    over = {one.attempt for one in store.facts(Certificate) if one.certificate == LABELS}
    return past[-1].claim if past and past[-1].number not in over else None


class _Pool:
    """The items without an answer, as the frozen model sees them."""

    def __init__(self, setting: Setting) -> None:
        number, fitted = handed_over(setting)  # checks are new items: no test answer is one
        if fitted is None:
            raise InputError("there is no model yet, so it has no labels to certify; answer questions first")
        testing = setting.testing()
        ids = [
            name
            for name in setting.pool.ids
            if name not in setting.held and not setting.ledger.known(name) and not testing.answers(name)
        ]
        self.ids, mean = known_by(setting, fitted, number, ids)
        if not self.ids:
            raise InputError("every item has an answer, so there is nothing to certify")
        best, self.predicted = mean.max(dim=-1)
        self.uncertainty = (1 - best.double()).clamp(0, 1)
        self.place = {name: at for at, name in enumerate(self.ids)}
        last = setting.rounds[-1]
        self.claim = {
            "round": number,
            "weights": last.weights,
            "items": setting.store.count(),
            "pool": len(self.ids),
            "sha256": sha256("\n".join(self.ids).encode()).hexdigest(),
        }

    def guess(self, name: str) -> int:
        return int(self.predicted[self.place[name]])


def _frozen(setting: Setting) -> _Pool:
    one_class(setting.plan, "a certificate")
    counts = setting.refresh()
    if counts.unseen:
        raise InputError(
            f"the model has not seen {counts.unseen} answers, and training voids a certificate; train first: "
            "askwise run NAME"
        )
    return _Pool(setting)


def _outcome(
    setting: Setting, pool: _Pool, attempt: Attempt, answers: dict[int, bool]
) -> Certified | CannotCertify | Open:
    """How an attempt stands with these answers."""
    return certify(
        pool.uncertainty,
        pool.predicted,
        answers,
        classes=len(setting.plan.classes),
        error=attempt.claim["error"],
        checks=attempt.claim["checks"],
        confidence=attempt.claim["confidence"],
        attempt=attempt.number,
        seed=first_seed(setting.store),  # another seed must not draw the checks again
        ids=pool.ids,
        ahead=_AHEAD,
    )


def _certified(setting: Setting, pool: _Pool, wanted: dict[str, Any]) -> Audit | None:
    """What an earlier attempt has certified of the same claim about the same model and items, if any has.

    Each attempt has paid for its own certificate, so it holds whatever was tried after it. The labels are
    found anew from the answers that it had; they must be those that were certified.
    """
    store, claim = setting.store, {**wanted, **pool.claim}
    same = {
        one.number: one for one in store.facts(Attempt) if one.certificate == LABELS and one.claim == claim
    }
    for found in reversed(store.facts(Certificate)):
        if found.certificate != LABELS or found.attempt not in same or not found.statement["certified"]:
            continue
        answers = _answers(store, pool, until=found.revision)
        outcome = _outcome(setting, pool, same[found.attempt], answers)
        labels = _labels(pool, outcome) if isinstance(outcome, Certified) else {}
        if _digest(labels) == found.statement["labels_sha256"]:
            return Audit(found.attempt, found.statement, labels, [], already=True)
    return None


def _attempt(setting: Setting, pool: _Pool, wanted: dict[str, Any]) -> Attempt:
    """The attempt that is under way, if it claims the same; a new one is written down first."""
    store, claim = setting.store, {**wanted, **pool.claim}
    past = [one for one in store.facts(Attempt) if one.certificate == LABELS]
    over = {one.attempt for one in store.facts(Certificate) if one.certificate == LABELS}
    if past and past[-1].number not in over and past[-1].claim == claim:
        return past[-1]
    new = Attempt(
        certificate=LABELS, number=len(past) + 1, seen=setting.ledger.revision, claim=claim, result={}
    )
    store.append([new])
    return new


def _answers(store: Store, pool: _Pool, *, until: int | None = None) -> dict[int, bool]:
    """Whether the model is right about each checked item, by all answers or those up to a revision.

    A label that differs counts as wrong when it was asked again: people slip, too.
    """
    found: dict[int, bool] = {}
    for name, history in _standing(store, until=until).items():
        if name not in pool.place:
            continue
        right = history[-1].label == pool.guess(name)
        if right or len(history) > 1 or history[0].verdict != "label":
            found[pool.place[name]] = right
    return found


def _standing(store: Store, *, until: int | None = None) -> dict[str, list[Answer]]:
    """By item the answers to checks, oldest first, without those that were taken back."""
    checks = {fact.question for fact in store.facts(Question) if fact.kind == "check"}
    said: dict[tuple[str, str, str], list[Answer]] = {}
    for answer in store.facts(Answer):
        if until is not None and answer.revision > until:
            break
        if answer.question not in checks:
            continue
        own = said.setdefault((answer.id, answer.question, answer.annotator), [])
        if answer.verdict == "retract":
            own.clear()
        else:
            own.append(answer)
    found: dict[str, list[Answer]] = {}
    for answer in sorted((one for own in said.values() for one in own), key=lambda one: one.revision):
        found.setdefault(answer.id, []).append(answer)
    return found


def _asked(setting: Setting, pool: _Pool, wanted: Sequence[str]) -> list[Question]:
    """The open questions about these items; those that are not asked yet are, and disagreements once more."""
    store = setting.store
    answered = {answer.question for history in _standing(store).values() for answer in history}
    checks = [fact for fact in store.facts(Question) if fact.kind == "check"]
    waiting = {fact.id: fact for fact in checks if fact.question not in answered}
    new: list[Fact] = [
        Question(id=name, round=setting.number, rank=rank, guess=pool.guess(name), kind="check")
        for rank, name in enumerate(wanted)
        if name not in waiting
    ]
    if new:
        revision = store.append(new)
        waiting |= {fact.id: fact for fact in store.facts(Question, since=revision - 1)}
    return [waiting[name] for name in wanted]


def _tell(setting: Setting, waiting: Sequence[Question], told: Any, annotator: str) -> None:
    """Store what an oracle said of checks."""
    answers = []
    for asked in waiting:
        if asked.id not in told:
            continue
        value, label = told[asked.id], None
        verdict = value.value if isinstance(value, NoLabel) else "label"
        if verdict == "label":
            label = position(value, setting.plan.classes, what=f"the label of {asked.id!r}")
        answers.append(
            Answer(
                id=asked.id,
                key="#0",
                verdict=verdict,
                label=label,
                question=asked.question,
                annotator=annotator,
                view="check",
            )
        )
    setting.store.answer(answers)


def _ended(setting: Setting, pool: _Pool, attempt: Attempt, outcome: Certified | CannotCertify) -> Audit:
    """The outcome as a fact: what is promised, for which items, by which model, with which checks."""
    if isinstance(outcome, CannotCertify):
        statement: dict[str, Any] = {"certified": False, "reason": outcome.reason, "checks": outcome.checks}
        labels: dict[str, int] = {}
    else:
        labels = _labels(pool, outcome)
        counts = zip(setting.plan.classes, outcome.classes, strict=True)
        statement = {
            "certified": True,
            "promise": outcome.promise,
            "labels": len(labels),
            "checks": outcome.checks,
            "wrong": outcome.wrong,
            "classes": {name: asdict(count) for name, count in counts},
            "labels_sha256": _digest(labels),
        }
    statement = {**attempt.claim, **statement, "attempt": attempt.number}
    setting.store.append([Certificate(certificate=LABELS, attempt=attempt.number, statement=statement)])
    return Audit(attempt.number, statement, labels, [])


def _labels(pool: _Pool, outcome: Certified) -> dict[str, int]:
    return {name: pool.guess(name) for name in (pool.ids[at] for at in outcome.positions.tolist())}


def _digest(labels: dict[str, int]) -> str:
    return sha256(repr(sorted(labels.items())).encode()).hexdigest()

"""The loop beside a person: after every answer the model is fitted again and the best items asked anew."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor
from torch.nn.functional import normalize

from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import features, predict
from askwise.engine import Local
from askwise.loop.axes import reached
from askwise.loop.calibration import calibration, noted
from askwise.loop.models import handed_over, keep_model
from askwise.loop.noted import TESTING
from askwise.loop.perform import ask_questions, ask_unscored, train_round
from askwise.loop.setting import Setting
from askwise.loop.sweeping import Sweepable, Sweeping
from askwise.pool.features import FeaturePool
from askwise.store.facts import Answer, Question, Round
from askwise.store.kept import as_kept

AHEAD = 12
"""Questions asked at a time for each person: a page holds eight, and two pages may be open."""
BLIND = 4
"""Questions that are asked before anything is encoded, so that nobody waits for the encoder."""
CHECKPOINT = 25
MOST_SCORED = 20_000
"""Items that are scored after an answer; of a larger pool others each time."""
MOST_TESTED = 500
"""Items kept for testing of which every model is asked; of more only those that are kept on the disk."""
_NEIGHBOURS, _COMPARED = 3, 2_000
_MIXED = 4  # questions to come among which a test question is due: before people see more, newer ones come


@dataclass(frozen=True)
class Guess:
    """What the model thinks of one item, and the labelled items that are most alike to it."""

    id: str
    probabilities: list[float]
    """Of each class, or of each tag; none of numbers."""
    total: float
    epistemic: float
    aleatoric: float
    neighbours: list[str]
    number: float | None = None
    """The mean of the first number, where labels are numbers."""


@dataclass(frozen=True)
class Turn:
    """What one step has done."""

    fitted: Round | None
    """The model of this step, if there was something to learn."""
    asked: list[Question]
    seconds: float


class Live:
    """One trainer that follows the answers in a store; a step never waits for anybody.

    `checkpoint` counts the answers between two models that are kept on the disk; the others can be fitted
    again from the facts.
    """

    def __init__(self, setting: Setting, *, checkpoint: int = CHECKPOINT) -> None:
        self._setting, self._checkpoint = setting, checkpoint
        setting.engine = Local(processes=1)  # forking for so little would take longer than the work
        setting.journal = False
        if setting.plan.pool_subset is None and len(setting.pool) > MOST_SCORED:
            setting.plan = setting.plan.model_copy(update={"pool_subset": MOST_SCORED})
        self._partial = isinstance(setting.pool, FeaturePool)
        self._kept = 0
        self._blind = 0
        self._order: list[str] = []
        self._ready: set[str] = set()
        self._sweeping = Sweeping(setting)

    def step(self) -> Turn | None:
        """Fit and ask, if anything was answered or too little is asked; none if there is nothing to do."""
        setting, started = self._setting, perf_counter()
        with setting.acting:
            counts = setting.refresh()
            self._look_for_features()
            fitted = self._fit() if counts.unseen and self._several() else None
            asked = self._ask_blind() if fitted is None and self._begins() else []
            wanted = 0 if asked else self._wanted(again=fitted is not None)
            asked = self._ask(wanted) if wanted else asked
        if fitted is None and not asked:
            return None
        return Turn(fitted, asked, perf_counter() - started)

    def open(self) -> list[Question]:
        """What was asked and not answered yet, the newest first."""
        questions = self._setting.ledger.refresh().open.values()
        return sorted(questions, key=lambda one: (-one.revision, one.rank))[: 4 * AHEAD]

    def keep(self) -> None:
        """Leave a model of all answers on the disk, whatever their number since the one before.

        That is the last one, as it is in memory; another is trained only if it has not seen some answers.
        """
        setting = self._setting
        with setting.acting:
            unseen, last = setting.refresh().unseen, setting.last()
            if last is None or not self._several():
                return
            if not unseen and as_kept(setting.store, [last])[0].checkpoint:
                return
            fitted = setting.fitted.get(last.number)
            if fitted is None or unseen or not self._noted(last, fitted):
                train_round(setting, tested=setting.ready is None)
            else:
                keep_model(setting, last, fitted)

    def guesses(self, ids: Iterable[str]) -> list[Guess]:
        """What the last model thinks of these items; nothing before there is one."""
        setting = self._setting
        number, fitted = handed_over(setting)
        wanted = [name for name in ids if name in setting.pool]
        if fitted is None or not wanted:
            return []
        reading = setting.pool.read(wanted)
        if not reading.ids:
            return []
        plan = setting.plan
        found = predict(fitted, reading.inputs, draws=plan.draws, seed=plan.draw_seed(number))
        near = self._nearest(fitted, reading.inputs, reading.ids)
        numbers, tags = plan.kind == "regression", plan.kind == "multilabel"
        shown = found.mean[..., 1] if tags else found.mean
        return [
            Guess(
                name,
                [] if numbers else shown[at].tolist(),
                float(found.total[at].sum()),
                float(found.epistemic[at].sum()),
                float(found.aleatoric[at].sum()),
                near[at],
                float(found.mean[at].flatten()[0]) if numbers else None,
            )
            for at, name in enumerate(reading.ids)
        ]

    def sweepable(self) -> list[Sweepable]:
        """Items that the last model is sure of, class by class."""
        with self._setting.acting:
            return self._sweeping.found()

    def encoded(self) -> tuple[int, int]:
        """How many items have features, of how many."""
        return (self._kept if self._partial else len(self._setting.pool)), len(self._setting.pool)

    def _several(self) -> bool:
        """Whether at least two different labels were given: of one alone nothing can be learned."""
        return len(set(self._setting.ledger.labels.values())) > 1

    def _fit(self) -> Round | None:
        setting = self._setting
        kept = [past for past in as_kept(setting.store, setting.rounds) if past.checkpoint]
        new = setting.ledger.changed_since(kept[-1].seen) if kept else self._checkpoint
        lasting = new >= self._checkpoint
        few = setting.plan.kept * len(setting.pool) <= MOST_TESTED
        # while features are missing, those of the items kept for testing would be computed here
        train_round(setting, checkpoint=lasting, tested=setting.ready is None and (few or lasting))
        return setting.last()

    def _noted(self, last: Round, fitted: Fitted) -> bool:
        """Whether the last round has noted of its model what the test answers say by now.

        Notes are of the round: what it left out, or would choose otherwise, only another can note.
        """
        setting = self._setting
        testing = setting.testing()
        if testing.on and setting.ready is None and TESTING not in last.metrics:
            return False
        now = setting.ledger.refresh().revision
        return calibration(setting, fitted, last.number, seen=now) == noted(last)

    def _wanted(self, *, again: bool) -> int:
        """How many items to ask about: with a new model always some, otherwise when few are left."""
        setting = self._setting
        plan, counts = setting.plan, setting.refresh()
        leases = setting.store.leases()
        held, people = {lease.question.id for lease in leases}, {lease.annotator for lease in leases}
        ahead = AHEAD * max(1, len(people))
        room = plan.budget - counts.labelled - counts.tested - len(held)
        # what somebody has answered waits for somebody else, and is not asked anew
        ledger = setting.ledger
        half = {name for name, one in ledger.open.items() if _answers(ledger.history(name), one)}
        waiting = ledger.open.keys() - held - half
        free, setting.again = len(waiting), frozenset(waiting) if again else frozenset()
        if room <= 0 or (not again and free >= ahead):
            return 0
        cold = not counts.rounds and counts.open <= self._blind
        first = max(plan.initial.count, plan.batch) if cold else ahead
        left = sum(1 for _, _ in zip(setting.unlabelled(), range(first), strict=False))
        return min(first, room, left)

    def _begins(self) -> bool:
        """Whether nothing was asked and nothing is encoded, so that no choice can be made."""
        store, plan = self._setting.store, self._setting.plan
        return self._partial and not self._kept and not plan.initial.ids and store.last(Question) is None

    def _ask_blind(self) -> list[Question]:
        """The first questions of all: the items that are encoded first, a random sample of the pool."""
        setting, before = self._setting, self._setting.store.revision
        ask_unscored(setting, min(BLIND, setting.plan.budget))
        setting.refresh()
        asked = setting.store.facts(Question, since=before)
        self._blind = len(asked)
        return asked

    def _ask(self, count: int) -> list[Question]:
        setting = self._setting
        before, testing = setting.store.revision, setting.testing()
        tests = testing.due(setting.plan.testing, ahead=_MIXED) if testing.on else 0
        held = {lease.question.id for lease in setting.store.leases()}
        # a page takes what was asked last, so test questions that nobody has yet are asked once more
        waiting = [one for one in testing.open() if one.id not in held] if testing.on else []
        again = [one.id for one in waiting if not _half(testing.answers(one.id), one)]
        ask_questions(setting, count, tests=tests, again=again, among=_MIXED, since=before)
        setting.refresh()
        return setting.store.facts(Question, since=before)

    def _look_for_features(self) -> None:
        """Note which items have features by now, so that the others are not computed here."""
        setting = self._setting
        if not self._partial:
            return
        order, count = setting.order(), reached(setting)
        if order is not self._order:  # the pool has grown
            self._order, self._ready, self._kept = order, set(), 0
        self._ready.update(order[self._kept : count])
        self._kept, setting.ready = count, self._ready
        if count == len(order):
            self._partial, setting.ready = False, None

    def _nearest(self, fitted: Fitted, inputs: Tensor, ids: list[str]) -> list[list[str]]:
        """For each input the labelled items with the most similar features."""
        setting = self._setting
        recent = [one.id for one in setting.store.facts(Answer)[-2 * _COMPARED :]]
        known = [name for name in dict.fromkeys(reversed(recent)) if name in setting.ledger.labels]
        reading = setting.pool.read([name for name in known[:_COMPARED] if name in setting.pool])
        if not reading.ids:
            return [[] for _ in ids]
        both = normalize(features(fitted, torch.cat([inputs, reading.inputs])).flatten(1), dim=1)
        alike = both[: len(ids)] @ both[len(ids) :].T
        order = alike.argsort(dim=1, descending=True)[:, : _NEIGHBOURS + 1].tolist()
        return [
            [reading.ids[place] for place in places if reading.ids[place] != name][:_NEIGHBOURS]
            for name, places in zip(ids, order, strict=True)
        ]


def _half(answers: list[Answer], question: Question) -> bool:
    """Whether a test question has an answer, not taken back, and waits for that of somebody else."""
    return bool(answers) and answers[-1].verdict != "retract" and _answers(answers, question)


def _answers(history: Iterable[Answer], question: Question) -> bool:
    """Whether somebody has given an answer to a question, other than that it is skipped."""
    return any(
        one.question == question.question and one.verdict in ("label", "cannot_tell") for one in history
    )

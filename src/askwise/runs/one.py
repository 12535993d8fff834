"""One run of a plan, to its end or to the answers it needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from askwise.loop.decide import Stop, Wait, larger, spent
from askwise.loop.learner import Learner
from askwise.loop.plan import Plan
from askwise.loop.plan_rules import refuse_unnamed
from askwise.oracle import File, Question
from askwise.runs.build import learner, oracle
from askwise.runs.material import Material
from askwise.store import Place, shown
from askwise.store.facts import Answer, Round
from askwise.tasks import named
from askwise.train.progress import Follow

OnRound: TypeAlias = Callable[[str, int, str], None]
"""Called when a run has a new model: the name of the run, its labels, how good it is on the test data."""


@dataclass(frozen=True)
class Run:
    """A plan with its data, and where its run is kept."""

    plan: Plan
    known: Material
    store: Place
    folder: Path | None = None
    """Where the plan's file is: modules of one's own are looked for there."""
    name: str = ""
    """What its progress bar is called; by default its store."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or shown(self.store))


@dataclass(frozen=True)
class Ended:
    """How a run ended: stopped for a reason, or waiting for answers."""

    stopped: str | None = None
    waits_for: int = 0
    questions: list[Question] = field(default_factory=list)
    """The open questions that nobody has answered."""
    notes: list[str] = field(default_factory=list)
    """What a person should know of it: lines of the file of labels that name no item or say nothing."""
    unused: int = 0
    """Labels of the file of items that the run has not asked about, while it waits for others."""
    larger: int | None = None
    """The budget with which it would go on, where it has all labels of its own."""

    def as_json(self) -> dict[str, Any]:
        """The ending as a script reads it."""
        if self.stopped is not None:
            return {"stopped": self.stopped}
        asked = {"questions": [vars(question) for question in self.questions]} if self.questions else {}
        unused = {"unused": self.unused} if self.unused else {}
        return {"waits_for": self.waits_for, **unused, **asked}


def how_good(plan: Plan, last: Round) -> str:
    """The first measure of the task on the test data, as a progress bar shows it; empty without any."""
    task = named(plan.task)
    value = last.metrics.get("test", {}).get(task.measures[0])
    if value is None:
        return ""
    return f"{100 * value:.1f} %" if task.higher else f"{value:.4g}"


def run_one(
    run: Run,
    *,
    source: str | None,
    exact: bool = False,
    on_round: OnRound = lambda *_: None,
    progress: Follow = False,
) -> Ended:
    """How the run ended; `source` answers: `simulated`, a file of labels, or nobody (None)."""
    refuse_unnamed(run.plan, where=run.name)
    answers = oracle(source, run.plan, run.known) if source is not None else None
    notes = answers.notes() if isinstance(answers, File) else []
    # a person need not wait until all is encoded; a file answers at once, so that nothing would be gained
    options: dict[str, Any] = {
        "exact": exact,
        "progress": progress,
        "folder": run.folder,
        "partial": answers is None,
    }
    with learner(run.plan, run.known, store=run.store, answers=answers, **options) as ours:
        told = 0

        def on_action(_: object) -> None:
            nonlocal told
            rounds = ours.rounds()
            if len(rounds) > told:
                told = len(rounds)
                on_round(run.name, rounds[-1].labels, how_good(run.plan, rounds[-1]))

        if answers is None:
            questions = ours.ask()
            on_action(None)
            return Ended(questions.reason, len(questions), list(questions), larger=_larger(ours))
        outcome = ours.run(oracle=answers, on_action=on_action)
        if isinstance(outcome, Stop):
            return Ended(outcome.reason, notes=notes, larger=_larger(ours))
        assert isinstance(outcome, Wait)  # noqa: S101  the loop ends in one of the two
        unused = 0
        if isinstance(answers, File):
            said = {one.id for one in ours.store.facts(Answer)}
            unused = len(answers.told.keys() - said)
        return Ended(None, outcome.open, list(ours.ask()), notes=notes, unused=unused)


def _larger(ours: Learner) -> int | None:
    counts = ours.status().counts
    return larger(ours.plan, counts) if spent(ours.plan, counts) else None

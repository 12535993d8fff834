"""One run of a plan, to its end or to the answers it needs."""

from pathlib import Path
from typing import Any

from askwise import planned
from askwise.cli.live import Tell
from askwise.loop.decide import Stop, Wait
from askwise.loop.plan import Plan
from askwise.planned import Material
from askwise.report.past import past
from askwise.report.summary import of_run
from askwise.store import open_store
from askwise.train.progress import Follow


def run_one(
    plan: Plan,
    known: Material,
    store: Path,
    source: str | None,
    tell: Tell,
    *,
    exact: bool,
    follow: Follow = False,
) -> dict[str, Any]:
    """How one run ended, and its curve; `follow` hears how far the work between two labels is."""
    answers = planned.oracle(source, plan, known) if source is not None else None
    with planned.learner(plan, known, store=store, answers=answers, exact=exact, follow=follow) as learner:

        def watch(_: object) -> None:
            rounds = learner.rounds()
            if rounds:
                measured = rounds[-1].metrics.get("test", {})
                tell(str(store), rounds[-1].labels, measured.get("accuracy"))

        outcome: Stop | Wait
        if answers is None:
            questions = learner.ask()
            outcome = (
                Wait(len(questions)) if questions else Stop(learner.status().next.removeprefix("stop: "))
            )
        else:
            outcome = learner.run(oracle=answers, progress=watch)
            questions = []
    kept = open_store(store, read_only=True)
    try:
        summary = of_run(past(kept))
    finally:
        kept.close()
    ended = {"stopped": outcome.reason} if isinstance(outcome, Stop) else {"waits_for": outcome.open}
    asked = {"questions": [question.id for question in questions]} if questions else {}
    return {"store": str(store), "seed": plan.seed, "budget": plan.budget, **ended, **asked, **summary}

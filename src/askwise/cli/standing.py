"""The status of a run, as plain values."""

from dataclasses import asdict
from typing import Any

from askwise.cli.stores import project_of, run_of
from askwise.errors import command
from askwise.loop.audit import certificate
from askwise.loop.decide import Ask, Stop, Train, Wait, decide, larger, spent
from askwise.loop.saying import as_json
from askwise.loop.status import Status, status
from askwise.project.compare import LEAST, last_verdict, rivals
from askwise.report.past import past
from askwise.store import Place, Store, place
from askwise.store.facts import Segment
from askwise.tasks import named

_CONDITIONS = {
    "torch": "torch's version",
    "threads": "number of threads",
    "score_threads": "number of threads",
    "cpu": "processor",
    "device": "device",
    "inner_batch": "size of the inner batch",
    "network": "network",
    "weights": "weights to begin with",
    "ignored": "ignored columns",
}


def standing(store: Store) -> dict[str, Any]:
    """Counts of its items, how good its last model is, and what comes next."""
    run = past(store)
    now = status(store)
    measured = run.rounds[-1].metrics.get(run.part or "", {}) if run.rounds else {}
    return {
        "store": now.store,
        "method": run.name,
        "seed": run.plan.seed,
        "budget": run.plan.budget,
        "validation": run.validation,
        **asdict(now.counts),
        "items": now.counts.items,
        "segments": now.segments,
        "changed": _changed(store.facts(Segment)),
        "measured_on": run.part,
        "metrics": {key: measured[key] for key in named(run.plan.task).measures if key in measured},
        "task": run.plan.kind,
        "quality": None if now.quality is None else as_json(now.quality, run.plan.names),
        "calibration": None if now.calibration is None else asdict(now.calibration),
        "certificate": certificate(store),
        "encoders": _encoders(store, now),
        "next": now.next,
        "do": _do(now),
    }


def further(store: Place, budget: int) -> str:
    """How a run goes on whose budget is spent."""
    return f"go on with: {command('run', *run_of(store), '--set', f'budget={budget}')}"


def _do(now: Status) -> str:
    """What comes next, with the command that does it.

    While a person answers on the page, questions that were asked earlier stay open and nobody waits for all
    of them: so what is wanted is said, and no number of them.
    """
    if now.plan.unnamed:
        return now.next
    store = place(now.store)
    action, project, run = decide(now.plan, now.counts), project_of(store), ("run", *run_of(store))
    page = "answer" if project is None else f"answer on the page: {command('label', project)}; or from a file"
    answer = f"{page}: {command(*run, '--oracle', 'labels.csv')}"
    match action:
        case Wait():
            return answer
        case Ask():
            return f"{now.next}; {answer}"
        case Train():
            return f"{now.next}: {command(*run)}"
        case Stop() if spent(now.plan, now.counts):
            return f"{now.next}; {further(store, larger(now.plan, now.counts))}"
    return now.next


def _changed(segments: list[Segment]) -> list[str]:
    """The conditions that have changed on the way, as a reader calls them.

    A project begins with a fast encoder and moves to its own: that is its plan. With an encoder, and with
    the columns of a table, change the network and what it begins with, which are not told apart from them.
    """
    found: dict[str, None] = {}
    for one in segments:
        own = {"network", "weights"} if {"encoder", "ignored"} & set(one.changed) else set[str]()
        found |= {_CONDITIONS[name]: None for name in one.changed if name in _CONDITIONS and name not in own}
    return list(found)


def _encoders(store: Store, now: Status) -> str | None:
    """The result of a comparison of the installed encoders, or how to make one; None without encoders."""
    if store.folder is None or now.plan.encoder is None:
        return None
    folder = store.folder.parent
    told = last_verdict(folder)
    if told is not None:
        return f"{told.said} (by {told.labels} labels)"
    others = rivals(now.plan) if now.counts.labelled >= LEAST else []
    return (
        f"compare {now.plan.encoder} with {', '.join(others)}: {command('encoders', folder)}"
        if others
        else None
    )

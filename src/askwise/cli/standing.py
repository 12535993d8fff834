"""The status of a run, as plain values."""

from dataclasses import asdict
from typing import Any

from askwise.loop.audit import certificate
from askwise.loop.saying import as_json
from askwise.loop.status import Status, status
from askwise.project.compare import LEAST, last_verdict, rivals
from askwise.report.past import past
from askwise.store import Store
from askwise.tasks import named


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
        "measured_on": run.part,
        "metrics": {key: measured[key] for key in named(run.plan.task).measures if key in measured},
        "task": run.plan.kind,
        "quality": None if now.quality is None else as_json(now.quality, run.plan.names),
        "calibration": None if now.calibration is None else asdict(now.calibration),
        "certificate": certificate(store),
        "encoders": _encoders(store, now),
        "next": now.next,
    }


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
        f"compare {now.plan.encoder} with {', '.join(others)}: askwise encoders {folder}" if others else None
    )

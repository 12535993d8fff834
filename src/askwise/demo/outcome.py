"""What the demo came to: its page, and its figures for people and scripts."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askwise.demo.protocol import Job, Protocol
from askwise.report import write
from askwise.report.assemble import assemble
from askwise.report.past import Past, curves, past
from askwise.report.summary import of_curves, of_run
from askwise.runs.material import material
from askwise.store import open_store
from askwise.store.facts import Asked


def outcome(protocol: Protocol, jobs: Sequence[Job], *, page: Path) -> dict[str, Any]:
    """The figures of all runs; the page is written on the way."""
    ours = jobs[0].method
    with ExitStack() as stack:
        runs: list[Past] = []
        for job in jobs:
            store = open_store(job.store, access="read")
            stack.callback(store.close)
            runs.append(past(store))
        pool = material(protocol.plan(ours, jobs[0].seed)).pool
        title = f"{protocol.data.capitalize()}: {ours} against random labelling"
        content = assemble([run.store for run in runs], pool=pool, title=title)
        write(content, page)
        by_method: dict[str, dict[str, Any]] = {}
        for job, run in zip(jobs, runs, strict=True):
            by_method.setdefault(job.method, {})[str(job.seed)] = of_run(run)
        return {
            "data": protocol.data,
            "protocol": asdict(protocol),
            "budget": protocol.budget,
            "runs": by_method,
            "summary": of_curves(curves(runs)),
            "run_seconds": round(sum(map(_seconds, runs)), 3),
            "report": str(page),
        }


def _seconds(run: Past) -> float:
    """What a run's own work took, also if it was done by earlier processes."""
    spent = [one.seconds for one in run.rounds] + [one.seconds for one in run.store.facts(Asked)]
    return sum(sum(seconds.values()) for seconds in spent)

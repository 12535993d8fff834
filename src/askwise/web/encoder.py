"""The process that turns items into features, in an order that makes every beginning a fair sample."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from askwise.web.child import Line, main

if TYPE_CHECKING:
    from askwise.loop.plan import Plan
    from askwise.project import Project

_LATER = 10  # what the kernel calls niceness: answers and the next questions come before encoding
_LOOK = 20.0  # seconds between two looks whether there are labels enough


def encode(folder: Path, line: Line) -> None:
    """Compute the features that are missing, and stay until the server ends; whoever asks comes first.

    Where there is a faster encoder to begin with, all items go through that one first, then through the
    plan's own; the trainer is begun anew with those features when they are complete.
    """
    if hasattr(os, "nice"):
        os.nice(_LATER)
    # not before: this takes seconds, in which the server may end
    from askwise.project import open_project
    from askwise.project.compare import last_verdict, rivals
    from askwise.project.working import passes

    project = open_project(folder)
    plans = passes(project)
    for number, plan in enumerate(plans, 1):
        then = plans[number].encoder if number < len(plans) else None
        if not _encode(project, plan, then, line):
            return
    line.tell("encoded", again=len(plans) > 1)
    if rivals(plans[-1]) and last_verdict(project.folder) is None:
        _compare(project, line)
    line.over.wait()


def _encode(project: "Project", plan: "Plan", then: str | None, line: Line) -> bool:
    """One pass over all items, by the encoder of a plan; whether it came to its end before the server."""
    from askwise.loop.featured import feature_pool, head_of
    from askwise.pool import encode_ahead
    from askwise.runs.build import whole_network
    from askwise.runs.material import material
    from askwise.store import open_store

    known = material(plan, folder=project.folder)
    head = head_of(whole_network(plan, known, folder=project.folder), known.pool.like(), plan)
    if head is None:
        return True
    store = open_store(project.place, access="read")
    try:
        pool = feature_pool(head, known.pool, store)
        for step in encode_ahead(pool, seed=plan.seed):
            told = {"encoder": plan.encoder, "then": then, "bad": step.quarantined}
            line.tell("encoding", done=step.encoded, of=step.total, **told)
            if line.over.is_set():
                return False
    finally:
        store.close()
    return True


def _compare(project: "Project", line: Line) -> None:
    """Hold the encoders that are installed against each other, once there are labels enough for it."""
    from askwise.errors import InputError
    from askwise.project.compare import LEAST, compared
    from askwise.store import open_store
    from askwise.store.ledger import Ledger

    store = open_store(project.place, access="read")
    ledger = Ledger(store)
    while not line.over.wait(_LOOK):
        if len(ledger.refresh().labels) >= LEAST:
            with suppress(InputError):  # there is no model on the disk yet: look again
                _, told = compared(project)
                line.tell("compared", said=told.said)
                break
    store.close()


if __name__ == "__main__":
    main(encode)

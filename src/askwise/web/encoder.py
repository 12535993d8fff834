"""The process that turns items into features, in an order that makes every beginning a fair sample."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from askwise.web.child import Line, main

if TYPE_CHECKING:
    from askwise.project import Project

_LATER = 10  # what the kernel calls niceness: answers and the next questions come before encoding
_LOOK = 20.0  # seconds between two looks whether there are labels enough


def encode(folder: Path, line: Line) -> None:
    """Compute the features that are missing, and stay until the server ends; whoever asks comes first."""
    if hasattr(os, "nice"):
        os.nice(_LATER)
    # not before: this takes seconds, in which the server may end
    from askwise.loop.featured import feature_pool, head_of
    from askwise.pool import encode_ahead
    from askwise.project import open_project
    from askwise.project.compare import last_verdict, rivals
    from askwise.runs.build import whole_network
    from askwise.runs.material import material, read_plan
    from askwise.store import open_store

    project = open_project(folder)
    plan = read_plan(project.plan)
    known = material(plan, folder=project.folder)
    network = whole_network(plan, known, folder=project.folder)
    head = head_of(network, known.pool.like(), plan)
    if head is not None:
        store = open_store(project.place, access="read")
        for step in encode_ahead(feature_pool(head, known.pool, store), seed=plan.seed):
            line.tell("encoding", done=step.encoded, of=step.total, bad=step.quarantined)
            if line.over.is_set():
                return
        store.close()
    line.tell("encoded", of=len(known.pool))
    if rivals(plan) and last_verdict(project.folder) is None:
        _compare(project, line)
    line.over.wait()


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

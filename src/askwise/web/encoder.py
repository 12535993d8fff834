"""The process that turns items into features, in an order that makes every beginning a fair sample."""

import os
from pathlib import Path

from askwise.web.child import Line, main

_LATER = 10  # what the kernel calls niceness: answers and the next questions come before encoding


def encode(folder: Path, line: Line) -> None:
    """Compute the features that are missing, and stay until the server ends; whoever asks comes first."""
    if hasattr(os, "nice"):
        os.nice(_LATER)
    # not before: this takes seconds, in which the server may end
    from askwise.loop.featured import feature_pool, head_of
    from askwise.pool import encode_ahead
    from askwise.project import open_project
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
    line.over.wait()


if __name__ == "__main__":
    main(encode)

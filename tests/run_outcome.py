"""What a run came to, by its store, and runs in processes of their own."""

import os
from pathlib import Path

from askwise.store.facts import Answer, Asked, Question, Round, Snapshot
from askwise.store.sql import SqlStore


def outcome(path: Path) -> dict:
    """Everything of a run that must be the same to the bit."""
    store = SqlStore(path, access="read")
    found = {
        "picks": [(q.id, q.round, q.rank, q.score, q.guess) for q in store.facts(Question)],
        "answers": [(a.id, a.verdict, a.label) for a in store.facts(Answer)],
        "weights": [(r.number, r.labels, r.weights, r.metrics) for r in store.facts(Round)],
        "scores": [(a.round, a.scored, a.scores) for a in store.facts(Asked)],
        "snapshots": sorted({(s.round, s.count, s.sha256) for s in store.facts(Snapshot)}),
    }
    store.close()
    return found


def in_child(action) -> int:
    """The exit code of an action in a forked process; -9 if it was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

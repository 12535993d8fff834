"""A run small enough to be killed a hundred times: three classes of points, a tiny network."""

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

from askwise.bayes.posteriors import bbb, mc_dropout, point
from askwise.loop.learner import Learner
from askwise.pool import arrays
from askwise.store.facts import Answer, Asked, Question, Round, Snapshot
from askwise.store.ledger import Ledger
from askwise.store.sql import SqlStore
from askwise.train import Training

CLASSES = ["red", "green", "blue"]
_RNG = np.random.default_rng(0)
LABELS = _RNG.integers(0, 3, size=60)
POINTS = (np.eye(3)[LABELS] @ _RNG.normal(size=(3, 4)) * 3 + _RNG.normal(size=(60, 4))).astype(np.float32)
IDS = [f"point-{number:02d}" for number in range(60)]
TRUTH = {name: CLASSES[label] for name, label in zip(IDS, LABELS, strict=True)}
HELD = (POINTS[40:50], [CLASSES[label] for label in LABELS[40:50]])
POSTERIORS = {"bbb": bbb.Config(last=1), "mc_dropout": mc_dropout.Config(), "point": point.Config()}
FAST = Training(epochs=5, batch_size=8)


def network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))


def pool(points=POINTS[:40], ids=IDS[:40]):
    return arrays(points, ids=ids)


def learner(store=None, **changes) -> Learner:
    choices = {
        "pool": pool(),
        "classes": CLASSES,
        "initial": 4,
        "batch": 3,
        "budget": 10,
        "draws": 8,
        "training": FAST,
        "test": (POINTS[40:], [CLASSES[label] for label in LABELS[40:]]),
        "seed": 5,
    }
    return Learner(changes.pop("network", None) or network(), store=store, **choices | changes)


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


def ledger(run: Learner) -> Ledger:
    """Where every item stands, by the facts alone."""
    return Ledger(run.store).refresh()

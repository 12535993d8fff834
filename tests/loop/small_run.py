"""A run small enough to be killed a hundred times: three classes of points, a tiny network."""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from askwise.bayes.posteriors import bbb, mc_dropout, point
from askwise.loop.learner import Learner
from askwise.pool import arrays
from askwise.store.ledger import Ledger
from askwise.train import Training

sys.path.append(str(Path(__file__).parents[1]))  # programs that import this have no path to it
from run_outcome import in_child as in_child
from run_outcome import outcome as outcome

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


def ledger(run: Learner) -> Ledger:
    """Where every item stands, by the facts alone."""
    return Ledger(run.store).refresh()

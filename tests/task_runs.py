"""One tiny run of each task: forty items, a network of a few weights, labels that follow from the items."""

import torch
from torch import nn

from askwise import nets
from askwise.loop.learner import Learner
from askwise.pool import arrays
from askwise.train import Training

IDS = [f"item-{number:02d}" for number in range(40)]
FAST = Training(epochs=3, batch_size=8)
_RNG = torch.Generator().manual_seed(0)
ROWS = torch.randn(60, 4, generator=_RNG)
PICTURES = torch.rand(60, 3, 6, 5, generator=_RNG)
TAGS = ["joy", "anger", "love"]
_ON = (ROWS[:, :3] > 0.3).float()
LABELS = {
    "classification": ROWS[:, :3].argmax(dim=1),
    "multilabel": _ON,
    "regression": 300 + 50 * ROWS[:, :1],
    "segmentation": (PICTURES[:, 0] > 0.5).byte(),
}
MADE_OF = {
    "classification": {"classes": ["a", "b", "c"]},
    "multilabel": {"tags": TAGS},
    "regression": {},
    "segmentation": {"classes": ["dark", "bright"]},
}
TASKS = list(LABELS)
TRUTH = {task: dict(zip(IDS, labels, strict=False)) for task, labels in LABELS.items()}


def items(task):
    return PICTURES if task == "segmentation" else ROWS


def network(task):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if task == "segmentation":
            return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1))
        dense = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1 if task == "regression" else 3))
        return nets.build("homoscedastic", network=dense) if task == "regression" else dense


def learner(task, /, store=None, **changes):
    choices = {
        "pool": arrays(items(task)[:40], ids=IDS),
        "task": task,
        "initial": 4,
        "batch": 3,
        "budget": 10,
        "draws": 5,
        "training": FAST,
        "test": (items(task)[40:], LABELS[task][40:]),
        "seed": 5,
        **MADE_OF[task],
    }
    return Learner(changes.pop("network", None) or network(task), store=store, **choices | changes)

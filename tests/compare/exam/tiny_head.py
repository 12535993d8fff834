"""Heads that are answered in no time: few items, two features, weights drawn at will."""

import torch
from torch import Tensor

from askwise.compare.exam.heads import Head
from askwise.tasks import classification, regression


def head(*, classes: int = 3, seed: int = 0) -> Head:
    """Classes, or with classes=1 numbers."""
    rng = torch.Generator().manual_seed(seed)
    train, pool, held = (torch.randn(n, 2, generator=rng) for n in (12, 60, 20))
    labels = [
        torch.randint(0, classes, (n,), generator=rng) if classes > 1 else torch.randn(n, 1, generator=rng)
        for n in (12, 20)
    ]
    task = classification() if classes > 1 else regression(tau=2.0, standardise=False)
    return Head("tiny", "", task, classes, 1.0, (train, labels[0]), pool, (held, labels[1]))


def weights(count: int = 400, *, classes: int = 3, seed: int = 0) -> Tensor:
    """Draws [T, C, 3] whose widths and means differ from weight to weight."""
    rng = torch.Generator().manual_seed(seed)
    spread = torch.linspace(0.2, 1.5, 3 * classes).view(classes, 3)
    return (torch.randn(count, classes, 3, generator=rng) * spread + spread.flip(0)).double()

"""Active learning on tensors in memory, for measures and tasks that a plan does not have."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from askwise.bayes.fitted import Fitted
from askwise.bayes.predict import score_pool
from askwise.engine import open_engine
from askwise.seeding import derive, generator
from askwise.selection import select


def first_items(count: int, first: int, *, seed: int) -> Tensor:
    """The positions that are labelled at the start, drawn from the seed alone."""
    return torch.randperm(count, generator=generator(seed, "papers", "first"))[:first]


def learn(
    x: Tensor,
    *,
    fit: Callable[[Tensor, int, Fitted | None], Fitted],
    measure: Callable[[Fitted, int], Mapping[str, Any]],
    acquire: str,
    first: Tensor | int,
    batch: int,
    budget: int,
    seed: int,
    draws: int,
    **options: Any,
) -> dict[str, Any]:
    """Labels and measures after every round.

    `fit(positions, seed, last)` learns from those items, `measure(fitted, seed)` looks at test items.
    `first` are the positions labelled at the start, or their number. First items, weights and draws
    depend on the seed and the round alone, so methods can be compared seed by seed.
    """
    count = len(x)
    told = first_items(count, first, seed=seed) if isinstance(first, int) else first
    found: dict[str, list[Any]] = {"labels": []}
    fitted: Fitted | None = None
    engine = open_engine("local", processes=1)
    for number in range(1 + (budget - len(told)) // batch):
        fitted = fit(told, derive(seed, "papers", "fit", number), fitted)
        drawn = derive(seed, "papers", "draws", number)
        found["labels"].append(len(told))
        for name, value in measure(fitted, drawn).items():
            found.setdefault(name, []).append(value)
        if len(told) + batch > budget:
            break
        rest = torch.ones(count, dtype=torch.bool)
        rest[told] = False
        free = rest.nonzero().flatten()
        ids = [str(one) for one in free.tolist()]
        scores = score_pool(
            fitted, x[free], acquire, draws=draws, seed=drawn, ids=ids, engine=engine, **options
        )
        picks = select("top_k", scores=scores, count=batch, seed=drawn, ids=ids)
        told = torch.cat([told, free[picks]])
    return found

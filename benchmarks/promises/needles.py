"""A class of 1 in 1,000 that nobody declared: does it surface among the first labels?"""

from typing import Any

import torch
from torch import Tensor

import askwise as aw
from askwise.seeding import derive, generator
from promises.runs import RANDOM, Runs, margin_and_uncertainty
from promises.sets import Labelled

RUNS, LABELS, POOL = 25, 150, 3000  # runs in one job, labels, items (fewer where a set has fewer)
SETTINGS = {"runs": RUNS, "labels": LABELS, "pool": POOL, "ways": ["random", "margin", "k_center"]}


def haystack(data: Labelled, rare: int, *, size: int, rng: torch.Generator) -> Tensor:
    """Items of a pool [N]: one in a thousand of the rare class, at least one, and these come first."""
    few = max(1, size // 1000)
    mine, others = ((data.labels == rare) == want for want in (True, False))
    chosen = []
    for part, count in ((mine, few), (others, size - few)):
        items = part.nonzero().squeeze(1)
        chosen.append(items[torch.randperm(len(items), generator=rng)[:count]])
    return torch.cat(chosen)


def simulate(data: Labelled, *, seed: int, size: int = POOL, count: int = RUNS) -> dict[str, Any]:
    """In how many runs each way finds an item of the rare class."""
    rng = generator(seed, "honest", "needles")
    pools, start, few = _made(data, size, count, rng)
    found = {"random": 0, "margin": _by_margin(data, pools, start, few), "k_center": 0}
    for run in range(count):
        rest = _rest(pools[run], start[run])
        ways = {"random": rest[torch.randperm(len(rest), generator=rng)[: LABELS - RANDOM]]}
        ways["k_center"] = _by_features("k_center", data, pools[run], start[run], derive(seed, run))
        for name, asked in ways.items():
            found[name] += bool((torch.cat([start[run], asked]) < few).any())
    return {"found": found}


def simulate_needle(data: Labelled, *, seed: int, size: int = POOL, count: int = RUNS) -> dict[str, Any]:
    """In how many of the same runs the selection `needle` finds one."""
    pools, start, few = _made(data, size, count, generator(seed, "honest", "needles"))
    found = 0
    for run in range(count):
        asked = _by_features("needle", data, pools[run], start[run], derive(seed, run))
        found += bool((torch.cat([start[run], asked]) < few).any())
    return {"found": {"needle": found}}


def _made(data: Labelled, size: int, count: int, rng: torch.Generator) -> tuple[Tensor, Tensor, int]:
    """The pool and the random first items of every run, and how many items of a pool are rare."""
    size = min(size, len(data.labels) // 1000 * 1000 or size)
    pools = torch.stack([haystack(data, run % data.classes, size=size, rng=rng) for run in range(count)])
    start = torch.stack([torch.randperm(size, generator=rng)[:RANDOM] for _ in range(count)])
    return pools, start, max(1, size // 1000)


def _rest(pool: Tensor, first: Tensor) -> Tensor:
    return torch.ones(len(pool), dtype=torch.bool).index_fill_(0, first, False).nonzero().squeeze(1)


def _by_features(name: str, data: Labelled, pool: Tensor, first: Tensor, seed: int) -> Tensor:
    """What a selection asks after the first items, all at once."""
    x, rest = data.features[pool], _rest(pool, first)
    return rest[aw.select(name, features=x[rest], labelled=x[first], count=LABELS - RANDOM, seed=seed)]


def _by_margin(data: Labelled, pools: Tensor, start: Tensor, few: int) -> int:
    runs = Runs(data, pools, pool=pools.shape[1], rng=torch.Generator())
    for place in range(RANDOM):
        runs.learn(start[:, place])
    for _ in range(LABELS - RANDOM):
        margin, _ = margin_and_uncertainty(runs.logits())
        runs.learn(runs.ask(margin))
    return int((runs.learned < few).any(dim=1).sum())

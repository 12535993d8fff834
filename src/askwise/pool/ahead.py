"""Features computed ahead of need, in an order that makes every beginning a random sample of the pool."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from askwise.errors import InputError
from askwise.pool.encoding import BATCH
from askwise.pool.features import FeaturePool
from askwise.pool.pool import Pool
from askwise.seeding import hashes


@dataclass(frozen=True)
class Ahead:
    """How far the encoding has come: the first `encoded` items of the order, bad ones among them."""

    encoded: int
    total: int
    quarantined: dict[str, str] = field(default_factory=dict)
    """The bad items that were met in this step, and why."""


def encoding_order(ids: Sequence[str], *, seed: int = 0) -> list[str]:
    """The ids in an order by their hashes in which every 32 fill one pass of an encoder.

    An item has its place in a pass by its position in the pool (`encode`), so items of a purely random
    order would often want the same place, and passes would run half empty. Here the first 32 are of
    each place the one with the least hash, and so on.

    >>> sorted(aw.pool.encoding_order(["a", "b", "c"]))
    ['a', 'b', 'c']
    """
    hashed = hashes(seed, ids)
    by_hash = hashed.argsort(stable=True)
    places = by_hash % BATCH
    turns = torch.empty_like(by_hash)
    for place in range(min(BATCH, len(ids))):
        mine = places == place
        turns[mine] = torch.arange(int(mine.sum()))
    order = by_hash[turns.argsort(stable=True)]
    return [ids[position] for position in order.tolist()]


def encode_ahead(pool: Pool, *, seed: int = 0) -> Iterator[Ahead]:
    """Compute the features of a pool pass by pass; each step says how far it has come.

    What is kept is not computed again, so it may be stopped anywhere, and go on in another process.
    Items that are added meanwhile are left to the next call.

    >>> encoder = torch.nn.Linear(4, 2).requires_grad_(False)
    >>> pool = aw.pool.features(aw.pool.arrays(x), encoder, cache="features")
    >>> [step.encoded for step in aw.pool.encode_ahead(pool)]
    [32, 60]
    """
    if not isinstance(pool, FeaturePool):
        raise InputError(
            f"only a pool of features can be encoded, see aw.pool.features; not a {type(pool).__name__}"
        )
    order = encoding_order(list(pool.ids), seed=seed)
    missing = (~pool.kept(order)).nonzero()[0]
    if not len(missing):
        yield Ahead(len(order), len(order))
    for some in np.array_split(missing, range(BATCH, len(missing), BATCH)) if len(missing) else ():
        reading = pool.read([order[place] for place in some.tolist()])
        last = int(some[-1]) + 1
        done = len(order) if last > missing[-1] else last
        yield Ahead(done, len(order), reading.quarantined)

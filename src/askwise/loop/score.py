"""Scores of a whole pool in one pass: chunks in, ids and the best scores out, memory flat."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

import torch
from torch import Tensor

from askwise.bayes.program.build import BATCH
from askwise.bayes.program.stream import shard_size
from askwise.errors import TrainingError
from askwise.pool.pool import Pool
from askwise.seeding import hashes
from askwise.selection.top_k import top_k

_BYTES = 32 * 2**20  # of a batch: larger items are held one by one
_TURNS = 64  # chunks, where there are many items

Part: TypeAlias = tuple[list[str], Tensor, dict[str, str]]
"""Items that could be read, their scores, and the others with reasons."""


@dataclass(frozen=True)
class Scored:
    """The items kept and their scores, best first where not all were kept; and unreadable items."""

    ids: list[str]
    scores: Tensor
    count: int
    sha256: str
    quarantined: dict[str, str]


def score_items(
    ids: Iterable[str],
    score: Callable[[Iterator[list[str]]], Iterator[Part]],
    *,
    chunk: int,
    keep: int | None,
    seed: int,
) -> Scored:
    """The scores of all items, or of the `keep` best with ties decided as `top_k` decides them.

    `score` gives, for each list of ids in turn, those that could be read, their scores, and the others
    with reasons. Neither the scores nor their hash depend on how long the lists are.
    """
    kept: list[str] = []
    best = torch.empty(0)
    count, named, scored = 0, sha256(), sha256()
    bad: dict[str, str] = {}
    for good, found, worse in score(chunks(ids, chunk)):
        bad |= worse
        scores = found.cpu()
        _check_finite(good, scores)
        named.update("".join(f"{name}\n" for name in good).encode())
        scored.update(scores.numpy().tobytes())
        count += len(good)
        kept, best = kept + good, torch.cat([best.to(scores.dtype), scores])
        if keep is not None and len(kept) > keep:
            places = top_k(best, count=keep, seed=seed, ids=kept)
            kept, best = [kept[place] for place in places.tolist()], best[places]
    digest = sha256(named.digest() + scored.digest()).hexdigest()
    return Scored(kept, best, count, digest, bad)


def chunk_size(pool: Pool) -> int:
    """How many items to hold at a time: full batches, many turns for the workers, and not too many bytes.

    It depends on the pool alone, so that a journal of finished chunks serves any number of workers.
    """
    like = pool.like()
    small = like.numel() * like.element_size() * BATCH <= _BYTES
    return shard_size(len(pool), like, block=BATCH if small else 1, turns=_TURNS)


def chunks(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    """The ids in lists of `size`; the last is shorter."""
    rest = iter(ids)
    while some := list(islice(rest, size)):
        yield some


def subset(ids: Iterable[str], count: int, *, seed: int) -> list[str]:
    """`count` of the ids, decided by the seed and each id alone, in the order of their hashes."""
    kept: list[str] = []
    marks = torch.empty(0, dtype=torch.int64)
    for some in chunks(ids, 65_536):
        kept, marks = kept + some, torch.cat([marks, hashes(seed, some)])
        order = marks.sort(stable=True).indices[:count]
        kept, marks = [kept[place] for place in order.tolist()], marks[order]
    return kept


def _check_finite(ids: list[str], scores: Tensor) -> None:
    if not bool(scores.isfinite().all()):
        place = int((~scores.isfinite()).nonzero()[0])
        raise TrainingError(
            f"the score of item {ids[place]!r} is {scores[place].item()}; "
            "look at the weights of this round, and train with a smaller lr"
        )

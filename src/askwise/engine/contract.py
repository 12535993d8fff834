"""What an engine promises; any class that keeps these promises is one (tests/conformance/test_engines.py)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from torch import Tensor

Shard: TypeAlias = list[Any]
"""Some of the items, as JSON holds them: their ids, or the first position and the one after the last."""


@dataclass(frozen=True)
class ShardResult:
    """What came of a shard: tensors, and notes as JSON holds them."""

    tensors: tuple[Tensor, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What is done with every shard: fetched ahead in one thread, computed in another."""

    fetch: Callable[[Shard], Any]
    compute: Callable[[Any], ShardResult]


@runtime_checkable
class Engine(Protocol):
    """Where a function runs over many shards.

    - Results come in the order of the shards, each bit for bit the same on any number of workers.
    - Every worker computes with `threads` threads, also where there is but one.
    - Shards are taken from their iterator as they are needed, and few results wait at a time.
    - A worker that dies costs time, never a result; its shard is done again.
    - An error of the work is raised here as it was there, and no worker outlives the call.
    """

    @property
    def name(self) -> str:
        """What a plan calls it."""

    @property
    def workers(self) -> int:
        """How many shards are computed at a time."""

    @property
    def threads(self) -> int:
        """How many threads compute a shard."""

    def map(self, make: Callable[[], Work], shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """What came of each shard; `make` prepares the work, once for each process or before they part."""

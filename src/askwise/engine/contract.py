"""What an engine promises; any class that keeps these promises is one (tests/conformance/test_engines.py)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from torch import Tensor

Shard: TypeAlias = list[Any]
"""Some of the items, as JSON holds them: their ids, or the first position and the one after the last."""


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard: tensors, and notes that JSON can hold."""

    tensors: tuple[Tensor, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """The work on every shard: `fetch` runs ahead in one thread, `compute` in another."""

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
        """Its name in a plan."""

    @property
    def workers(self) -> int:
        """How many shards are computed at a time."""

    @property
    def threads(self) -> int:
        """How many threads compute a shard."""

    def map(self, make: Callable[[], Work], shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """The result of each shard; `make` prepares the work, once per process or before the fork."""

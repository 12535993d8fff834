"""What a store promises; any class that keeps these promises is one (tests/conformance/test_stores.py)."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from askwise.store.facts import Fact

F = TypeVar("F", bound=Fact)


@runtime_checkable
class Store(Protocol):
    """Durable facts.

    - Facts are appended and never edited: what was read once is read again, in the same order.
    - `append` is all or nothing, and what it acknowledged survives kill -9 and a power cut.
    - Revisions grow by one with every append, across all kinds of facts.
    - One process writes; another is refused with its name. Any number may read.
    - An answer's key, an item's id and a round's number occur once.
    """

    @property
    def name(self) -> str:
        """What to call this store in a message."""

    @property
    def folder(self) -> Path | None:
        """Where checkpoints are kept; none if the store does not outlive the process."""

    @property
    def revision(self) -> int:
        """The revision of the last append; 0 when there was none."""

    def append(self, facts: Iterable[Fact]) -> int:
        """The revision under which the facts are now durable; appending nothing changes nothing."""

    def facts(self, kind: type[F], *, since: int = 0) -> list[F]:
        """All facts of one kind with a revision above `since`, in the order they were appended."""

    def ids(self) -> Iterator[str]:
        """The id of every item, without holding them all."""

    def count(self) -> int:
        """How many items there are."""

    def checkpoint(self, name: str, save: Callable[[Path], object], *, keep: Collection[str]) -> None:
        """Keep what `save` writes into a folder, durable and complete, and of the others those in `keep`."""

    def exclusive(self) -> AbstractContextManager[object]:
        """Inside it no other thread appends, so that a check still holds when its fact is written."""

    def close(self) -> None:
        """Let another process write."""

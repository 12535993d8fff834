"""A store that lives and dies with the process: for tests, and for loops that need no resume."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from askwise.errors import StoreError
from askwise.store.contract import F
from askwise.store.facts import Answer, Fact, Item, Round


class MemoryStore:
    """Facts in lists."""

    name = "memory"
    folder = None

    def __init__(self) -> None:
        self.revision = 0
        self._facts: dict[type[Fact], list[Fact]] = {}
        self._once: set[tuple[type[Fact], object]] = set()
        self._lock = threading.RLock()

    def append(self, facts: Iterable[Fact]) -> int:
        """The revision under which the facts are kept."""
        with self._lock:
            new = [replace(fact, revision=self.revision + 1) for fact in facts]
            once = [mark for fact in new if (mark := _mark(fact))]
            if len(set(once)) < len(once) or self._once.intersection(once):
                raise StoreError(f"store {self.name}: a fact of {once[0][0].__name__} is there already")
            for fact in new:
                self._facts.setdefault(type(fact), []).append(fact)
            self._once.update(once)
            self.revision += bool(new)
            return self.revision

    def facts(self, kind: type[F], *, since: int = 0) -> list[F]:
        """All facts of one kind with a revision above `since`."""
        return [fact for fact in self._facts.get(kind, []) if fact.revision > since]  # type: ignore[misc]

    def ids(self) -> Iterator[str]:
        """The id of every item."""
        return (fact.id for fact in self.facts(Item))

    def count(self) -> int:
        """How many items there are."""
        return len(self._facts.get(Item, []))

    def checkpoint(self, name: str, save: Callable[[Path], object], *, keep: Collection[str]) -> None:
        """Nothing: the models die with the process too."""

    def exclusive(self) -> AbstractContextManager[object]:
        """Inside it no other thread appends."""
        return self._lock

    def close(self) -> None:
        """Nothing to let go of."""


def _mark(fact: Fact) -> tuple[type[Fact], object] | None:
    match fact:
        case Item():
            return Item, fact.id
        case Answer():
            return Answer, fact.key
        case Round():
            return Round, fact.number
    return None

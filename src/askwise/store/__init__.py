"""Durable facts: items, questions, answers, plans and rounds, appended and never edited."""

from pathlib import Path

from askwise.store.contract import Store
from askwise.store.facts import CANNOT_TELL, SKIP

__all__ = ["CANNOT_TELL", "SKIP", "Store", "open_store"]


def open_store(target: str | Path | Store | None, *, read_only: bool = False) -> Store:
    """The store at a path; in memory when there is none; a store as it is."""
    from askwise.store.memory import MemoryStore
    from askwise.store.sql import SqlStore

    if target is None:
        return MemoryStore()
    if isinstance(target, str | Path):
        return SqlStore(target, read_only=read_only)
    return target

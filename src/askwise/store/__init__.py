"""Durable facts: items, questions, answers, plans and rounds, appended and never edited."""

from pathlib import Path
from typing import Literal

from askwise.errors import InputError
from askwise.store.contract import Store
from askwise.store.facts import CANNOT_TELL, RETRACT, SKIP

__all__ = ["CANNOT_TELL", "RETRACT", "SKIP", "Store", "open_store"]


def open_store(
    target: str | Path | Store | None, *, access: Literal["train", "answer", "read"] = "train"
) -> Store:
    """The store at a path or a postgresql:// address; in memory when there is none; a store as it is."""
    from askwise.store.memory import MemoryStore
    from askwise.store.sql import SqlStore

    if target is None:
        return MemoryStore()
    if isinstance(target, str | Path):
        if "\0" in str(target):
            raise InputError(f"store {str(target)!r} has a NUL in its name; choose another name")
        return SqlStore(target, access=access)
    return target

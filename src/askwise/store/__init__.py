"""Durable facts: items, questions, answers, plans and rounds, appended and never edited."""

from pathlib import Path
from typing import Literal, TypeAlias

from askwise.errors import InputError
from askwise.store.contract import Store
from askwise.store.facts import CANNOT_TELL, RETRACT, SKIP

__all__ = ["CANNOT_TELL", "RETRACT", "SKIP", "Place", "Store", "open_store", "place", "shown"]

Place: TypeAlias = str | Path
"""Where a store is: a file, or the postgresql:// address of a database."""


def place(name: str | Path) -> Place:
    """Where the store is that somebody names: an address is no path, whose slashes would be joined."""
    return name if isinstance(name, Path) or "://" in name else Path(name)


def shown(where: Place) -> str:
    """What to call a store in a message: an address without its password."""
    if isinstance(where, Path):
        return str(where)
    from askwise.store.sql.connecting import server_url

    url, folder = server_url(where)
    bare = url.set(drivername="postgresql")
    whole = bare if folder is None else bare.update_query_dict({"folder": str(folder)})
    return whole.render_as_string(hide_password=True)


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
    if not isinstance(target, Store):
        raise InputError(f"a store is a path, an address or a Store, not {type(target).__name__}")
    return target

"""Engines by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from askwise.engine.contract import Engine
from askwise.engine.local import Local
from askwise.errors import InputError, choose

ENGINES: Mapping[str, Callable[..., Engine]] = {"local": Local}
"""Every engine by the name that a plan gives it."""


def open_engine(engine: str | Engine | None = None, **options: Any) -> Engine:
    """The engine of that name with these options; an engine as it is; by default all cores here."""
    if isinstance(engine, Engine):
        if options:
            raise InputError("options go with the name of an engine, and this is one already")
        return engine
    name = choose("engine", engine or "local", ENGINES)
    record: Any = ENGINES[name]
    for option in options:
        choose(f"option of engine {name!r}", option, [field.name for field in fields(record) if field.init])
    made: Engine = record(**options)
    return made

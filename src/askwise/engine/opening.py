"""Engines by name."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

from askwise.engine import worker
from askwise.engine.contract import Engine
from askwise.engine.local import Local
from askwise.errors import InputError, choose


def _ray() -> Callable[..., Engine]:
    from askwise.engine.ray import Ray  # takes a second, and may not be installed

    return Ray


ENGINES: Mapping[str, Callable[[], Callable[..., Engine]]] = {"local": lambda: Local, "ray": _ray}
"""Every engine by the name that a plan gives it, loaded when it is wanted."""


def open_engine(engine: str | Engine | None = None, **options: Any) -> Engine:
    """The engine of that name with these options; an engine as it is; by default all cores here.

    >>> from askwise.engine import open_engine
    >>> open_engine("local", processes=1).workers
    1
    """
    if engine is not None and not isinstance(engine, str):
        if not isinstance(engine, Engine):
            raise InputError(f"an engine is one of: {', '.join(ENGINES)}; not {type(engine).__name__}")
        if options:
            raise InputError("options go with the name of an engine, and this is one already")
        return engine
    name = choose("engine", engine or "local", ENGINES)
    if worker.inside:  # a whole run is somebody's shard: it has one core
        return Local(processes=1, threads=options.get("threads", 1))
    made = ENGINES[name]()
    for option in options:
        choose(f"option of engine {name!r}", option, signature(made).parameters)
    return made(**options)


def kept(engine: Engine) -> AbstractContextManager[Any]:
    """A block in which the engine keeps its cluster from call to call.

    >>> from askwise.engine import Local, kept
    >>> with kept(Local(processes=1)) as engine:
    ...     for part in (x[:30], x[30:]):
    ...         scores = aw.score_pool(fitted, part, "bald", draws=10, engine=engine)
    """
    return engine if isinstance(engine, AbstractContextManager) else nullcontext()

"""Oracles, which answer questions: a simulation, a file, a function."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.oracle.contract import Oracle, Question
from askwise.oracle.file import File, Find
from askwise.oracle.function import Function
from askwise.oracle.labelling import Labelling
from askwise.oracle.simulated import Simulated
from askwise.store.facts import Told

__all__ = ["AnyOracle", "File", "Function", "Oracle", "Question", "Simulated", "known_labels", "open_oracle"]

AnyOracle = Oracle | Callable[[Question], Told | None] | Mapping[str, Any] | str | Path


def open_oracle(source: Any, *, classes: Sequence[str] | Labelling, find: Find | None = None) -> Oracle:
    """The oracle that a path, a mapping of labels or a function stands for; an oracle as it is.

    `find` turns what a file calls an item (its row, its file name) into its id.

    >>> oracle = aw.oracle.open_oracle(lambda question: "cat", classes=["cat", "dog"])
    >>> type(oracle).__name__
    'Function'
    """
    if isinstance(source, Oracle):
        return source
    if isinstance(source, str | Path):
        return File(source, classes=classes, find=find)
    if isinstance(source, Mapping):
        return Simulated(source, classes=classes)
    if callable(source):
        return Function(source)
    raise InputError(f"an oracle is a path, a mapping of labels or a function, not {type(source).__name__}")


def known_labels(oracle: Oracle) -> Mapping[str, Any] | None:
    """The labels that an oracle has before it is asked, by item; None if it has none in advance.

    >>> aw.oracle.known_labels(aw.oracle.Simulated({"a": "cat"}, classes=["cat", "dog"]))
    {'a': 'cat'}
    """
    return oracle.labels if isinstance(oracle, File | Simulated) else None

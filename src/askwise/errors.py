"""What was wanted, what was found, what to do: every refusal of askwise is one of these."""

import shlex
from collections.abc import Callable, Container, Iterable, Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any, Protocol, runtime_checkable


def command(*words: object) -> str:
    """What a person pastes into a shell: `askwise` and these words, quoted where they have to be."""
    return shlex.join(["askwise", *map(str, words)])


class AskwiseError(Exception):
    """The root of every error that askwise raises on purpose."""


class InputError(AskwiseError, ValueError):
    """A value that a caller passed cannot be used; the message says what was wanted."""


class TrainingError(AskwiseError, ArithmeticError):
    """Training produced a number that is not finite."""


class CorruptError(AskwiseError):
    """A stored file is not the one that was written."""


class PathError(AskwiseError, OSError):
    """A file or folder cannot be read or written: the path as it was given, and the reason."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class StoreError(AskwiseError):
    """The store cannot be used: in use elsewhere, read-only, full, or written by a newer askwise."""


class InUseError(StoreError):
    """Another process trains on the store."""


class StaleError(StoreError):
    """Something was appended after the revision that a caller expected; read again, and decide again."""


class BusyError(AskwiseError):
    """The process that could answer is busy, or not there just now; ask again in a moment."""


class EngineError(AskwiseError):
    """A worker could not do its work: it was killed again and again, or met an error of somebody's code."""


class SlowPathWarning(UserWarning):
    """Something works, but not the fast way; said once, where it is decided."""


def choose(kind: str, name: str, choices: Iterable[str]) -> str:
    """`name`, if it is one of the choices; otherwise an error that names the nearest one."""
    known = list(choices)
    if name in known:
        return name
    near = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"unknown {kind} {name!r}; {hint}choose one of: {', '.join(known)}")


@runtime_checkable
class Serving(Protocol):
    """A record that knows which tasks it serves."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """Their names."""
        ...


def serves(kind: str, name: str, task: str, record: Serving, table: Mapping[str, Serving]) -> None:
    """Refuse a record that does not serve the task; the error names those of the table that do."""
    if task not in record.tasks:
        fit = [other for other, known in table.items() if task in known.tasks]
        raise InputError(f"{kind} {name!r} does not serve {task}; choose one of: {', '.join(fit)}")


def positive(name: str, value: int) -> int:
    """`value`, if it is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    return value


def check_options(
    owner: str, function: Callable[..., Any], options: Mapping[str, Any], given: Container[str]
) -> None:
    """Refuse an option that `function` does not take, by its name; `given` are passed to it anyway."""
    known = [p.name for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    known = [name for name in known if name not in given]
    for option in options:
        if not known:
            raise InputError(f"{owner} takes no options, and was given {option!r}")
        choose(f"option of {owner}:", option, known)


def at_least_zero(name: str, value: int | float) -> int | float:
    """`value`, if it is a finite number of at least zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"{name} must be a finite number of at least 0, not {value!r}")
    return value


def above_zero(name: str, value: int | float) -> int | float:
    """`value`, if it is a finite number above zero."""
    if at_least_zero(name, value) == 0:
        raise InputError(f"{name} must be above 0")
    return value

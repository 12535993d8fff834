"""The classes a label may name: names in order, of which a label stores the position."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any

from askwise.errors import InputError


def names(classes: int | Iterable[str | int]) -> tuple[str, ...]:
    """Class names as text; a number stands for that many classes called 0, 1, 2, ... ."""
    if isinstance(classes, str):
        raise InputError(f"classes is a list of names, not the text {classes!r}; write [{classes!r}, ...]")
    found = tuple(map(str, range(classes) if isinstance(classes, int) else classes))
    if len(found) < 2:
        raise InputError(f"at least two classes are wanted, not {len(found)}: {', '.join(found) or 'none'}")
    for name in found:
        if not name.strip():
            raise InputError("a class has an empty name; give it one")
        if found.count(name) > 1:
            raise InputError(f"class {name!r} is named {found.count(name)} times; each needs its own name")
    return found


def position(label: Any, classes: Sequence[str], *, what: str = "a label") -> int:
    """The position of a class by its name; a whole number is a position, unless names are numbers."""
    if isinstance(label, str):
        name = label
    else:
        try:
            number = index(label)  # any whole number: Python's, numpy's, a tensor of one
        except (TypeError, ValueError, RuntimeError):
            number = -1
        if isinstance(label, bool) or number < 0:
            raise InputError(f"{what} must be a class name or number, not {label!r}; {_listed(classes)}")
        if not any(known.isdecimal() for known in classes) and number < len(classes):
            return number
        name = str(number)
    if name in classes:
        return classes.index(name)
    near = get_close_matches(name, classes, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"{what} is {name!r}, which is no class; {hint}{_listed(classes)}")


def _listed(classes: Sequence[str]) -> str:
    return f"choose one of: {', '.join(classes)}"

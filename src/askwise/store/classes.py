"""The classes a label may name: names in order, of which a label stores the position."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import index
from typing import Any

from askwise.errors import InputError, choose
from askwise.store.facts import CLASS_EDITS, ClassEdit

_LISTED = 100  # names in a message


@dataclass
class Edited:
    """The classes as their edits have left them; a number means the same class for ever."""

    names: list[str] = field(default_factory=list)
    """By number, those that are no longer in use included."""
    into: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """What became of a class that is no longer in use."""

    def active(self) -> list[int]:
        """The numbers of the classes in use."""
        return [number for number in range(len(self.names)) if number not in self.into]

    def now(self, number: int) -> int | None:
        """The class that a label counts for by now; none if it has to be asked again."""
        while number in self.into:
            if len(self.into[number]) != 1:
                return None
            [number] = self.into[number]
        return number


def edited(edits: Iterable[ClassEdit]) -> Edited:
    """The classes after these edits, in their order; one that makes no sense is refused."""
    found = Edited()
    for edit in edits:
        choose("edit of classes", edit.edit, CLASS_EDITS)
        if edit.edit == "add":
            if edit.number != len(found.names):
                raise InputError(f"class {edit.name!r} has number {edit.number}, not {len(found.names)}")
            found.names.append(edit.name)
            continue
        active = found.active()
        if edit.number not in active or not set(edit.into) <= set(active) - {edit.number}:
            raise InputError(f"cannot {edit.edit} class {edit.number}: it or its successor is not in use")
        if edit.edit == "rename":
            found.names[edit.number] = edit.name
            continue
        wanted = {"merge": len(edit.into) == 1, "split": len(edit.into) > 1, "retire": not edit.into}
        if not wanted[edit.edit]:
            raise InputError(f"cannot {edit.edit} class {edit.number} into {len(edit.into)} classes")
        found.into[edit.number] = edit.into
    return found


def names(classes: int | Iterable[str | int], *, kind: str = "classes", least: int = 2) -> tuple[str, ...]:
    """Names of classes, tags or numbers as text; a number stands for that many called 0, 1, 2, ... ."""
    if isinstance(classes, str):
        raise InputError(f"{kind} is a list of names, not the text {classes!r}; write [{classes!r}, ...]")
    found = tuple(map(str, range(classes) if isinstance(classes, int) else classes))
    one = {"classes": "class", "tags": "tag", "numbers": "number"}[kind]
    if len(found) < least:
        few = "two" if least > 1 else "one of the"
        raise InputError(f"at least {few} {kind} are wanted, not {len(found)}: {', '.join(found) or 'none'}")
    for name, times in Counter(found).items():
        if not name.strip():
            raise InputError(f"a {one} has an empty name; give it one")
        if times > 1:
            raise InputError(f"{one} {name!r} is named {times} times; each needs its own name")
    return found


def position(label: Any, classes: Sequence[str], *, what: str = "a label", kind: str = "class") -> int:
    """The position of a class by its name; a whole number is a position, unless names are numbers."""
    if isinstance(label, str):
        name = label
    else:
        try:
            number = index(label)  # any whole number: Python's, numpy's, a tensor of one
        except (TypeError, ValueError, RuntimeError):
            number = -1
        if isinstance(label, bool) or number < 0:
            raise InputError(f"{what} must be a {kind} name or number, not {label!r}; {_listed(classes)}")
        if not any(known.isdecimal() for known in classes) and number < len(classes):
            return number
        name = str(number)
    if name in classes:
        return classes.index(name)
    near = get_close_matches(name, classes, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"{what} is {name!r}, which is no {kind}; {hint}{_listed(classes)}")


def _listed(classes: Sequence[str]) -> str:
    more = f" and {len(classes) - _LISTED:,} more" if len(classes) > _LISTED else ""
    return f"choose one of: {', '.join(classes[:_LISTED])}{more}"

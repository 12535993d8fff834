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
    parents: dict[int, str] = field(default_factory=dict)
    """The headings that classes stand under; a heading is no class, so that there are two levels."""

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
        if edit.edit == "parent":
            found.parents.pop(edit.number, None)
            found.parents |= {edit.number: edit.name} if edit.name else {}
            continue
        wanted = {"merge": len(edit.into) == 1, "split": len(edit.into) > 1, "retire": not edit.into}
        if not wanted[edit.edit]:
            raise InputError(f"cannot {edit.edit} class {edit.number} into {len(edit.into)} classes")
        found.into[edit.number] = edit.into
    return found


def changed(
    now: Edited, edit: str, name: str, to: Sequence[str] = (), *, kind: str = "class"
) -> list[ClassEdit]:
    """The facts of a change that somebody names in words; one that makes no sense is refused.

    `to` is the new name, the class that takes the labels, the parts of a split (new ones are added; one may
    keep the old name) or the heading. The facts are tried on the classes before they are returned.
    """
    choose(f"edit of a {kind}", edit, CLASS_EDITS)
    name, to = name.strip(), [one.strip() for one in to]
    if edit == "add":
        _refuse_taken(now, name, kind)
        return [ClassEdit(edit="add", number=len(now.names), name=name)]
    number = position(name, now.names, what=f"the {kind} to change", kind=kind)
    if number in now.into:
        raise InputError(f"cannot {edit} the {kind} {name!r}: it is no longer in use")
    if edit == "parent":
        if to and to[0] in (now.names[other] for other in now.active()):
            raise InputError(
                f"{to[0]!r} is a {kind}, and a heading is none: there are two levels; name another"
            )
        return [ClassEdit(edit="parent", number=number, name=_readable(to[0], kind) if to else "")]
    if edit == "rename":
        new = to[0] if to else ""
        _refuse_taken(now, new, kind)
        return [ClassEdit(edit="rename", number=number, name=new)]
    if edit == "split":
        return _split(now, number, to, kind)
    into = tuple(_in_use(now, one, kind) for one in to)
    if (edit == "merge") != (len(into) == 1) or number in into:
        wanted = "names one other that takes its labels" if edit == "merge" else "names no other"
        raise InputError(f"a {edit} of the {kind} {name!r} {wanted}")
    return [ClassEdit(edit=edit, number=number, into=into)]


def _split(now: Edited, number: int, to: Sequence[str], kind: str) -> list[ClassEdit]:
    """A class that becomes several: those that are new are added, and the old name may go to one of them."""
    if len(set(to)) < 2:
        raise InputError(f"a split of the {kind} {now.names[number]!r} names at least two others")
    facts, known = list[ClassEdit](), list(now.names)
    if known[number] in to:
        known[number] = _free(known, f"{known[number]} (before the split)")
        facts.append(ClassEdit(edit="rename", number=number, name=known[number]))
    into = []
    for one in dict.fromkeys(to):
        if one not in known:
            facts.append(ClassEdit(edit="add", number=len(known), name=_readable(one, kind)))
            known.append(one)
        elif known.index(one) in now.into:
            raise InputError(f"the {kind} {one!r} is no longer in use; name another")
        into.append(known.index(one))
    heading = now.parents.get(number, "")
    new = [fact.number for fact in facts if fact.edit == "add" and heading]
    under = [ClassEdit(edit="parent", number=one, name=heading) for one in new]
    return [*facts, *under, ClassEdit(edit="split", number=number, into=tuple(into))]


def _free(known: Sequence[str], wanted: str) -> str:
    return next(name for name in (wanted, *(f"{wanted} {n}" for n in range(2, 10_000))) if name not in known)


def _in_use(now: Edited, name: str, kind: str) -> int:
    number = position(name, now.names, what=f"the {kind} that takes its place", kind=kind)
    if number in now.into:
        raise InputError(f"the {kind} {name!r} is no longer in use; name another")
    return number


def _refuse_taken(now: Edited, name: str, kind: str) -> None:
    if _readable(name, kind) in now.names:
        raise InputError(f"there is a {kind} {name!r} already")
    if name in now.parents.values():
        raise InputError(
            f"{name!r} is a heading of other {'classes' if kind == 'class' else 'tags'}; choose another name"
        )


def _readable(name: str, kind: str) -> str:
    if not name or not name.isprintable():
        raise InputError(f"a {kind} needs a name that can be read")
    return name


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

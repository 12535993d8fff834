"""The classes as a page shows them: with keys, and what became of those no longer in use."""

from collections.abc import Sequence
from string import ascii_lowercase

from askwise.store.classes import Edited
from askwise.web.models import ClassShown

_DIGITS = "1234567890"


def keys(names: Sequence[str]) -> list[str | None]:
    """The key of each class: digits, then the first free letter of its name, then any; then none.

    Classes that are called by digits have these.
    """
    taken = {name for name in names if name in tuple(_DIGITS)}
    found: list[str | None] = []
    for place, name in enumerate(names):
        if name in taken:
            found.append(name)
            continue
        own = [letter for letter in name.lower() if letter in ascii_lowercase]
        digit = [_DIGITS[place]] if place < len(_DIGITS) else []
        wanted = [*digit, *own, *ascii_lowercase]
        key = next((letter for letter in wanted if letter not in taken), None)
        taken.update([] if key is None else [key])
        found.append(key)
    return found


def shown(classes: Edited) -> list[ClassShown]:
    """Every class in the order of its number; only those in use have keys."""
    active = classes.active()
    key = dict(zip(active, keys([classes.names[number] for number in active]), strict=True))
    found = []
    for number, name in enumerate(classes.names):
        into = [classes.names[one] for one in classes.into.get(number, ())]
        parent, retired = classes.parents.get(number), number in classes.into
        found.append(ClassShown(name=name, key=key.get(number), parent=parent, retired=retired, into=into))
    return found

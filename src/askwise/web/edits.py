"""A change of the classes or tags from the page: a fact, and the list in the project's plan with it."""

from askwise.errors import InputError, StaleError
from askwise.files import write_whole
from askwise.loop.plan import make, planned
from askwise.project.mend import with_names
from askwise.store.classes import edited
from askwise.store.facts import ClassEdit, Fact
from askwise.web.desk import Desk
from askwise.web.models import ClassEditGiven


def edit_classes(desk: Desk, given: ClassEditGiven) -> int:
    """The revision after the change; `StaleError` if the classes were changed since the page looked."""
    word = "tags" if desk.plan.tags else "classes"
    if desk.plan.kind == "regression":
        raise InputError("numbers have no classes to change")
    if desk.plan.kind != "classification" and given.edit in ("merge", "retire"):
        raise InputError(f"tags can be added and renamed; {given.edit} serves classes")
    while True:
        now = desk.store.revision
        edits = desk.store.facts(ClassEdit)
        if edits and edits[-1].revision > given.revision:
            raise StaleError("the classes were changed meanwhile; look again")
        before = edited(edits).names
        fact, names = _edit(before, given)
        edited([*edits, fact])  # what makes no sense is refused before anything is written
        facts: list[Fact] = [fact]
        if names != before:
            facts.append(planned(make(desk.planned().model_dump() | {word: names})))
            write_whole(desk.project.plan, with_names(desk.project.plan, word, names).encode())
        try:
            return desk.store.append(facts, expect=now)
        except StaleError:
            continue  # an answer or a round came in between; the classes may still be the same


def _edit(before: list[str], given: ClassEditGiven) -> tuple[ClassEdit, list[str]]:
    """The change as a fact, and the names after it."""
    new = (given.name if given.edit == "add" else given.to or "").strip()
    if given.edit in ("add", "rename"):
        if not new.isprintable() or not new:
            raise InputError("a class needs a name that can be read")
        if new in before:
            raise InputError(f"there is a class {new!r} already")
    if given.edit == "add":
        return ClassEdit(edit="add", number=len(before), name=new), [*before, new]
    number = _number(before, given.name)
    if given.edit == "rename":
        renamed = [*before[:number], new, *before[number + 1 :]]
        return ClassEdit(edit="rename", number=number, name=new), renamed
    into = (_number(before, new),) if given.edit == "merge" else ()
    return ClassEdit(edit=given.edit, number=number, into=into), before


def _number(names: list[str], name: str) -> int:
    if name not in names:
        raise InputError(f"there is no class {name!r}")
    return names.index(name)

"""A change of the classes from the page: a fact, and the list in the project's plan with it."""

import json
import re
import tomllib

from askwise.errors import InputError, StaleError
from askwise.files import write_whole
from askwise.loop.plan import make
from askwise.store.facts import ClassEdit, Planned
from askwise.web.desk import Desk
from askwise.web.models import ClassEditGiven

_LIST = re.compile(r"^classes\s*=\s*\[.*?\]\s*$", re.MULTILINE | re.DOTALL)


def edit_classes(desk: Desk, given: ClassEditGiven) -> int:
    """The revision after the change; `StaleError` if the classes were changed since the page looked."""
    while True:
        now = desk.store.revision
        edits = desk.store.facts(ClassEdit)
        if edits and edits[-1].revision > given.revision:
            raise StaleError("the classes were changed meanwhile; look again")
        edit, names = _edit(desk.classes.names, given)
        plan = make(desk.planned().model_dump() | {"classes": names})
        _write_plan(desk, names)
        try:
            return desk.store.append([edit, Planned(plan=plan.model_dump(mode="json"))], expect=now)
        except StaleError:
            continue  # an answer or a round came in between; the classes may still be the same


def _edit(before: list[str], given: ClassEditGiven) -> tuple[ClassEdit, list[str]]:
    names = [*before]
    if given.edit == "add":
        new, edit = given.name.strip(), ClassEdit(edit="add", number=len(names), name=given.name.strip())
        names.append(new)
    elif given.edit == "rename":
        new = (given.to or "").strip()
        if given.name not in names:
            raise InputError(f"there is no class {given.name!r}")
        edit = ClassEdit(edit="rename", number=names.index(given.name), name=new)
        names[edit.number] = new
    else:
        raise InputError(f"the model cannot {given.edit} classes yet; add or rename one")
    if not new.isprintable() or not new:
        raise InputError("a class needs a name that can be read")
    if new in before:
        raise InputError(f"there is a class {new!r} already")
    return edit, names


def _write_plan(desk: Desk, names: list[str]) -> None:
    """Bring the list in the plan's file up to date, so that every other command knows the classes."""
    path = desk.project.plan
    text = path.read_text(encoding="utf-8")
    line = f"classes = {json.dumps(names, ensure_ascii=False)}".replace("\x7f", "\\u007f")
    changed = _LIST.sub(lambda _: line, text, count=1) if _LIST.search(text) else f"{line}\n{text}"
    if tomllib.loads(changed).get("classes") != names:
        raise InputError(f"{path} has been edited by hand; change its classes there, and start again")
    write_whole(path, changed.encode())

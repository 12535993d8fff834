"""The classes or tags of a project, changed while it may be in use: in its facts, and then in plan.toml."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from askwise.errors import InputError, StaleError, choose
from askwise.files import write_whole
from askwise.loop.plan import Plan, make, planned
from askwise.project import Project
from askwise.project.plan_file import toml_value
from askwise.runs.material import read_plan
from askwise.store.classes import changed, edited
from askwise.store.contract import Store
from askwise.store.facts import CLASS_EDITS, Act, ClassEdit, Fact, Planned

_LIST = r"""\[(?:[^\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*\]"""  # of TOML; a name may hold a bracket

SERVED: Mapping[str, tuple[str, ...]] = {
    "classification": ("add", "rename", "merge", "split", "retire", "parent"),
    "multilabel": ("add", "rename", "merge", "retire", "parent"),
    "segmentation": ("add", "rename", "parent"),
    "regression": (),
}
"""The edits that make sense, by what a label is."""


def edit_classes(
    project: Project,
    store: Store,
    edit: str,
    name: str,
    to: Sequence[str] = (),
    *,
    by: str = "",
    seen: int | None = None,
) -> int:
    """The revision after a change of the classes or tags, whose labels follow; `by` is noted as its author.

    Whoever has looked at them at the revision `seen` gets a `StaleError` if they were changed since. A
    change that was interrupted before plan.toml was written is finished by the same call.
    """
    plan = read_plan(project.plan)
    choose("edit of classes", edit, CLASS_EDITS)
    if edit == "split" and plan.kind == "multilabel":
        raise InputError(
            f"the tag {name!r} cannot be split: its items keep their other tags; add its parts as tags, "
            "tag its items anew (History lists them), then retire it"
        )
    if edit not in SERVED[plan.kind]:
        can = ", ".join(SERVED[plan.kind]) or "nothing of the kind"
        raise InputError(f"{plan.kind} has no {edit}; what can be changed: {can}")
    one = "tag" if plan.tags else "class"
    while True:
        now, edits = store.revision, store.facts(ClassEdit)
        if catch_up(project, store) and _was_last(edits, edit, name, to, kind=one):
            return now
        plan = read_plan(project.plan)
        if edits and seen is not None and edits[-1].revision > seen:
            raise StaleError("the classes were changed meanwhile; look again")
        written = _written(plan, store, edits)  # those that only plan.toml has so far
        before = edited([*edits, *written])
        new = [*written, *changed(before, edit, name, to, kind=one)]
        after = edited([*edits, *new])  # what makes no sense is refused before anything is written
        act = Act(by=by, act=f"{edit} {one}", about=" -> ".join([name, ", ".join(to)] if to else [name]))
        facts: list[Fact] = [*new, act]
        text = ""
        if after.names != before.names:
            text = with_names(project.plan, plan.made_of, after.names)
            past = store.facts(Planned)
            facts += [planned(make({**past[-1].plan, plan.made_of: after.names}))] if past else []
        try:
            revision = store.append(facts, expect=now)
        except StaleError:
            continue  # an answer or a round came in between; the classes may still be the same
        if text:
            write_whole(project.plan, text.encode())
        return revision


def catch_up(project: Project, store: Store) -> bool:
    """Whether plan.toml was behind a change of the classes in the store, and has them now.

    Classes that somebody has written into it by hand are left for the next run to find.
    """
    edits, plan = store.facts(ClassEdit), read_plan(project.plan)
    now = edited(edits).names
    if plan.kind == "regression" or list(plan.names) == now:
        return False
    ends = [place for place, (one, two) in enumerate(pairwise(edits), 1) if one.revision != two.revision]
    if list(plan.names) not in [edited(edits[:end]).names for end in ends]:
        return False
    write_whole(project.plan, with_names(project.plan, plan.made_of, now).encode())
    return True


def _written(plan: Plan, store: Store, edits: Sequence[ClassEdit]) -> list[ClassEdit]:
    """The classes that stand in the plan behind those that the store has."""
    known = edited(edits).names
    if list(plan.names[: len(known)]) != known:
        raise InputError(
            f"store {store.name} has the classes {', '.join(known)}, and the plan {', '.join(plan.names)}; "
            "write those of the store into the plan, new ones at the end"
        )
    return [
        ClassEdit(edit="add", number=at, name=plan.names[at]) for at in range(len(known), len(plan.names))
    ]


def _was_last(edits: Sequence[ClassEdit], edit: str, name: str, to: Sequence[str], *, kind: str) -> bool:
    """Whether the last change of the classes is this one."""
    last = [one for one in edits if one.revision == edits[-1].revision]
    before = edited(edits[: len(edits) - len(last)])
    try:
        wanted = changed(before, edit, name, to, kind=kind)
    except InputError:
        return False
    told = [(one.edit, one.number, one.name, one.into) for one in last]
    return told == [(one.edit, one.number, one.name, one.into) for one in wanted]


def with_names(path: Path, word: str, names: Sequence[str]) -> str:
    """The text of a plan with these `classes` or `tags`; refused where they stand in an unusual way."""
    text = path.read_text(encoding="utf-8")
    changed_text = re.sub(
        rf"^{word}\s*=\s*{_LIST}",
        lambda _: f"{word} = {toml_value(list(names))}",
        text,
        count=1,
        flags=re.MULTILINE,
    )
    try:
        after = tomllib.loads(changed_text)
    except tomllib.TOMLDecodeError:
        after = {}
    if after != {**tomllib.loads(text), word: list(names)}:
        raise InputError(
            f"the {word} in {path} cannot be changed here; write them as {word} = [...] in one line"
        )
    return changed_text

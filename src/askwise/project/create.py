"""Make a project, or add to one what is new."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from askwise.encoders import Encoder
from askwise.errors import InputError
from askwise.files import write_whole
from askwise.loop.plan import Plan, make
from askwise.project import Project, is_project
from askwise.project.classes import with_names
from askwise.project.first_look import first_look
from askwise.project.found import Found, look_at
from askwise.project.leaks import refuse_leaks
from askwise.project.plan_file import choices, written
from askwise.project.sources import Source, column_notes, known_labels
from askwise.project.texts import language_note, length_note
from askwise.runs.build import learner
from askwise.runs.material import Material, material, read_plan
from askwise.store import open_store
from askwise.store.classes import names as check_names
from askwise.store.facts import Answer, NoLabel
from askwise.train.progress import Follow

CODING = "coding.json"
Tell: TypeAlias = Callable[[list[str]], None]
"""Called with lines for a person: what was found, before anything is made of it."""


@dataclass(frozen=True)
class Made:
    """What `create` made or added."""

    project: Project
    plan: Plan
    found: Found
    encoder: Encoder | None
    before: int
    """Items that the project had already."""
    labels: int
    """Labels that are new to it."""
    labelled: int
    notes: list[str]


def create(
    folder: Path,
    source: Source,
    *,
    names: list[str] | None = None,
    made_of: str = "classes",
    labels: Path | None = None,
    folders: bool = False,
    examples: Sequence[tuple[str, str]] = (),
    ask_copies: bool = False,
    chosen: Mapping[str, Any] | None = None,
    tell: Tell = lambda _: None,
    progress: Follow = False,
) -> Made:
    """A project of these items in a folder; where there is one already, what is new is added to it.

    `names` are what a label is `made_of`: classes, tags or numbers. `examples` are pairs of a class and an
    item. `tell` is called first with what was found and refused. `chosen` are `acquire`, `posterior`,
    `fine_tune` and `group`, where a person chose them. A refusal leaves no project behind, and changes none
    that was there.
    """
    if names and made_of == "classes":
        check_names(names)
    project = Project(folder)
    if is_project(folder):
        plan = _the_same(project, source, names, made_of, dict(chosen or {}))
        names = list(plan.names) or names
        known = material(plan, folder=folder)
        told, names, notes = known_labels(
            known.pool, labels, folders=folders, examples=examples, names=names, made_of=made_of
        )
        if plan.unnamed and names != list(plan.classes):
            plan = _with_classes(project, plan, names)
        return _filled(project, plan, known, told, notes, ask_copies, tell, progress)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already and is no project; choose another name")
    whole = _with_coding(source, folder)
    known = _material(source, whole, ["a", "b"])  # what the classes are may follow from the items
    told, names, notes = known_labels(
        known.pool, labels, folders=folders, examples=examples, names=names, made_of=made_of
    )
    whole, said = _with_stretch(whole, known)
    notes += said + length_note(known.pool, known.encoder) + language_note(known.pool, whole.encoder)
    notes += column_notes(whole)
    notes += refuse_leaks(whole, known.pool, told, names, made_of=made_of)
    given: dict[str, Any] = {"shape": known.pool.like().shape, "items": len(known.pool), **(chosen or {})}
    values = choices(whole, names, made_of=made_of, **given)
    plan = make(values)
    text = written(values, name=str(folder))
    with _new(folder):
        if source.coding is not None:
            write_whole(folder / CODING, source.coding.model_dump_json(indent=1).encode())
        write_whole(project.plan, text.encode())
        project.exports.mkdir()
        return _filled(project, plan, known, told, notes, ask_copies, tell, progress)


@contextmanager
def _new(folder: Path) -> Iterator[None]:
    """The folder, made for this block; an error leaves nothing behind in it."""
    made_here = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if made_here:
            folder.rmdir()
        raise


def _material(source: Source, whole: Source, classes: list[str]) -> Material:
    """The items, read as the plan will read them; a table by its coding before that is a file."""
    values = choices(whole, classes, shape=())
    if source.coding is not None:
        values["data_options"] = {**source.options, "coding": source.coding}
    return material(make(values))


def _with_coding(source: Source, folder: Path) -> Source:
    if source.coding is None:
        return source
    return replace(source, options={**source.options, "coding": str((folder / CODING).resolve())})


def _with_stretch(source: Source, known: Material) -> tuple[Source, list[str]]:
    """Deep pictures are spread by what the pool of now says, however it grows; and how that is said."""
    stretch = known.pool.preparation().get("stretch")
    if stretch is None:
        return source, []
    pairs = ", ".join(f"{low:g} to {high:g}" for low, high in zip(*stretch, strict=True))
    note = f"pixels of more than 8 bits are shown from black to white: {pairs}; `stretch` in the plan says so"
    return replace(source, options={**source.options, "stretch": stretch}), [note]


def _filled(
    project: Project,
    plan: Plan,
    known: Material,
    told: Mapping[str, Any],
    notes: list[str],
    ask_copies: bool,
    tell: Tell,
    progress: Follow,
) -> Made:
    """The store with all items, the refused ones and the copies set aside, and labels that are new."""
    found = look_at(known.pool, progress=progress)
    tell([*found.lines(), *first_look(known.pool, found.refused, project.folder).lines()])
    before, answered = _before(project.store)
    with learner(plan, known, store=project.store, folder=project.folder, progress=progress) as ours:
        now = ours.status().plan
        kept = ours.kept_for_testing()
        held = {*now.validation.ids, *now.test.ids, *kept, *found.refused}
        if lost := sum(name in found.refused for name in told):
            notes = [*notes, f"known labels of items that cannot be read, which are left out: {lost}"]
        if left := sum(name in kept and name not in answered for name in told):
            notes = [*notes, f"{left} known labels are of items kept for testing, and are left out"]
        fresh = {n: label for n, label in told.items() if n not in answered and n not in held}
        ours.tell(fresh, annotator="imported")
        # after the labels: what is labelled stays as it is
        ours.set_aside(found.refused | ({} if ask_copies else dict(found.stand_ins())))
        labelled = ours.status().counts.labelled
    new = sum(not isinstance(label, NoLabel) for label in fresh.values())
    return Made(project, plan, found, known.encoder, before, new, labelled, notes)


def _the_same(
    project: Project, source: Source, names: list[str] | None, made_of: str, chosen: dict[str, Any]
) -> Plan:
    """The plan of a project that is there; what contradicts it is refused, and said where to change it."""
    plan = read_plan(project.plan)
    ignored = plan.data_options.get("ignore", [])
    more = set(source.options.get("ignore", [])) - set(ignored)
    wanted: dict[str, tuple[Any, Any]] = {
        "data": (str(source.path), plan.data),
        made_of: (None if plan.unnamed and made_of == "classes" else names, list(getattr(plan, made_of))),
        "acquire": (chosen.get("acquire"), plan.acquire),
        "posterior": (chosen.get("posterior"), plan.posterior["name"]),
        "group": (chosen.get("group"), plan.group),
        "thaw": (chosen.get("fine_tune"), plan.thaw),
        "ignore": ([*ignored, *more] if more else None, ignored),
    }
    for key, (now, then) in wanted.items():
        if now is not None and now != then:
            shown = (", ".join(then) or "none") if isinstance(then, list) else then
            raise InputError(
                f"{project.name} is there already, and its {key}: {shown}; "
                f"change {project.plan}, or choose another name"
            )
    return plan


def _with_classes(project: Project, plan: Plan, names: list[str]) -> Plan:
    """The plan with the classes that were still to be named, in its file as well."""
    named = make(plan.model_dump() | {"classes": names})
    write_whole(project.plan, with_names(project.plan, "classes", names).encode())
    return named


def _before(store: Path) -> tuple[int, set[str]]:
    """How many items a project has already, and which of them somebody said something about."""
    if not store.exists():
        return 0, set()
    opened = open_store(store, access="read")
    try:
        return opened.count(), {answer.id for answer in opened.facts(Answer)}
    finally:
        opened.close()

"""The tasks of Label Studio: labels written as annotations and read from them, both ways in one place."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from askwise.errors import InputError
from askwise.files import refusing
from askwise.oracle.labelling import Classes, Labelling, TagSets, Values
from askwise.pool.ids import of_text
from askwise.store.facts import CANNOT_TELL, SKIP, NoLabel, Told
from askwise.store.labels import Label, Numbers, Tags

CONTROL, OBJECT = "label", "item"
"""The names of the control and of what it is about, where no labelling interface says others."""
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")  # what it puts before the name of a file that was uploaded
_SHOWN = ("image", "text", "file", "filename", "name")  # keys of a task's data that may name an item
_MOST = 2**28  # bytes of an export
_SHORT = 80  # letters of a text in a message


@dataclass(frozen=True)
class Said:
    """What a task says of an item: what it calls it, the label or why there is none, and by whom."""

    task: str
    called: str
    told: Told | None
    """None where `problem` says why it cannot be used."""
    annotator: str = ""
    note: str = ""
    problem: str = ""


def read_tasks(path: Path, kind: Labelling, *, control: str | None = None) -> list[Said]:
    """What a JSON export says of each task that somebody has annotated."""
    return said_in(_loaded(path), kind, what=str(path), control=control)


def named_in(path: Path) -> list[str]:
    """The choices that an export names, in the order of the alphabet."""
    try:
        found = {
            choice
            for task in _loaded(path)
            for one in task["annotations"]
            for result in one["result"]
            for choice in result["value"].get("choices", ())
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no JSON export of Label Studio: {error!r}") from None
    return sorted(map(str, found))


def matched(called: str, find: Callable[[str | int], str]) -> str:
    """The id of the item that a task calls so: an id or a name, a path that ends in one, or a whole text."""
    for name in (called, PurePosixPath(called).name, of_text(called)):
        try:
            return find(name)
        except InputError:
            continue
    return find(called if len(called) < _SHORT else f"{called[:_SHORT]}...")


def said_in(tasks: Any, kind: Labelling, *, what: str, control: str | None = None) -> list[Said]:
    """What tasks say, in their order; those without an annotation say nothing and are left out."""
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise InputError(f"{what} is no list of tasks of Label Studio; export the project as JSON")
    if any("annotations" not in task and "completions" not in task for task in tasks):
        raise InputError(f"{what} has tasks without annotations, as the short form has; export it as JSON")
    used = control or _control(tasks, kind, what)
    found = []
    for place, task in enumerate(tasks):
        here = f"{what}, task {task.get('id', place + 1)}"
        try:
            one = _said(task, kind, here, used)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise InputError(f"{here} is none that can be read: {error!r}") from None
        if one is not None:
            found.append(one)
    return found


def called_in(data: Mapping[str, Any]) -> str:
    """What a task calls its item: an id, else the file or the text that it shows; never opened.

    A path that leads out of its folder is refused.
    """
    if isinstance(data.get("id"), str):
        return str(data["id"])
    shown = next((data[key] for key in _SHOWN if isinstance(data.get(key), str)), None)
    if shown is None:
        shown = next((value for value in data.values() if isinstance(value, str)), None)
    if shown is None:
        raise InputError("names no item; give its data an id")
    return _file(shown)


def result_of(
    label: Label, kind: Labelling, *, control: str | None = CONTROL, to: str = OBJECT
) -> list[dict[str, Any]]:
    """A label as the result of an annotation or a prediction."""

    def one(name: str | None, type_: str, value: Any) -> dict[str, Any]:
        return {"from_name": name, "to_name": to, "type": type_, "value": {type_: value}}

    match label:
        case Numbers() if len(kind.names) == 1:
            return [one(control, "number", label.values[0])]
        case Numbers():
            return [one(name, "number", value) for name, value in zip(kind.names, label.values, strict=True)]
        case Tags():
            return [one(control, "choices", [kind.names[tag] for tag in label.tags])]
        case int():
            return [one(control, "choices", [kind.names[label]])]
    raise InputError("masks of pixels are not exchanged with Label Studio; export them as files")


def score_of(uncertainty: float) -> float:
    """How sure a model is: 1, and down to 0; one divided by the number of choices that the nats leave.

    Label Studio's queue has the lowest score first.
    """
    return math.exp(-max(0.0, uncertainty))


def task_of(
    identity: str, told: Told, kind: Labelling, *, annotator: str, note: str, data: Mapping[str, str]
) -> dict[str, Any]:
    """An item as a task with one annotation, as `said_in` reads it again; skipped items are cancelled."""
    label = None if isinstance(told, NoLabel) else kind.label(told, what=f"the label of {identity!r}")
    meta: dict[str, Any] = {"id": identity, "annotator": annotator, "note": note}
    if isinstance(label, Tags) and label.unknown:
        meta["unknown"] = [kind.names[tag] for tag in label.unknown]
    annotation = {
        "result": [] if label is None else result_of(label, kind),
        "was_cancelled": told is SKIP,
    }
    return {"data": {**data, "id": identity}, "meta": meta, "annotations": [annotation]}


def _loaded(path: Path) -> Any:
    with refusing(path, "read"):
        if path.stat().st_size > _MOST:
            raise InputError(f"{path} is larger than {_MOST >> 20} MB; export fewer tasks at a time")
        content = path.read_bytes()
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON export of Label Studio: {error}") from None


def _said(task: Mapping[str, Any], kind: Labelling, what: str, control: str | None) -> Said | None:
    """What one task says; nothing where nobody has annotated it."""
    meta = task.get("meta") or {}
    votes: dict[str, tuple[Told, str]] = {}
    for one in task.get("annotations") or task.get("completions") or []:
        told = _told(one, kind, what, control, meta)
        who = meta.get("annotator") or _who(one.get("completed_by"))
        if who in votes and isinstance(told, NoLabel) and not isinstance(votes[who][0], NoLabel):
            continue  # a later skip does not take back what was said
        votes[who] = told, str(meta.get("note") or "")
    if not votes:
        return None
    try:
        called = called_in(task["data"])
    except InputError as error:
        return Said(what, "", None, problem=f"{what} {error}")
    labels = {who: told for who, (told, _) in votes.items() if not isinstance(told, NoLabel)}
    ranked = Counter(labels.values()).most_common()
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        views = " and ".join(f"{_text(told, kind)} ({count})" for told, count in ranked)
        return Said(what, called, None, problem=f"{what}: annotators disagree, {views}; it is left out")
    told = ranked[0][0] if ranked else next(iter(votes.values()))[0]
    who = next(name for name, (one, _) in votes.items() if one == told)
    return Said(what, called, told, who, votes[who][1])


def _told(
    annotation: Mapping[str, Any], kind: Labelling, what: str, control: str | None, meta: Mapping[str, Any]
) -> Told:
    """What one annotation says."""
    if annotation.get("was_cancelled"):
        return SKIP
    results = [one for one in annotation.get("result") or [] if isinstance(one.get("value"), dict)]
    label = f"{what}: the label"
    if isinstance(kind, Values):
        by_name = {one["from_name"]: one["value"]["number"] for one in results if one.get("type") == "number"}
        if not by_name:
            return CANNOT_TELL
        single = len(kind.names) == 1
        values = [by_name.get(control or CONTROL)] if single else [by_name.get(name) for name in kind.names]
        return kind.label(values, what=label)
    own = [one for one in results if one.get("type") == "choices" and one["from_name"] == control]
    if not own:
        return CANNOT_TELL
    choices = own[-1]["value"]["choices"]
    if isinstance(kind, TagSets):
        unknown = dict.fromkeys(meta.get("unknown") or (), None)
        return kind.label({**dict.fromkeys(choices, 1), **unknown}, what=label)
    if len(choices) != 1:
        raise InputError(
            f"{label} is {len(choices)} choices, and an item has one class; make a project of tags"
        )
    if not isinstance(kind, Classes):
        raise InputError(f"{what}: only classes, tags and numbers are read from Label Studio")
    return kind.said(choices[0], what=label)


def _text(told: Told, kind: Labelling) -> str:
    return told if isinstance(told, str) else kind.text(kind.label(told, what="the label"))


def _control(tasks: Sequence[Mapping[str, Any]], kind: Labelling, what: str) -> str | None:
    """The one control whose results are labels; none where each number has a control of its own."""
    if isinstance(kind, Values) and len(kind.names) > 1:
        return None
    wanted = "number" if isinstance(kind, Values) else "choices"
    names = {
        result["from_name"]
        for task in tasks
        for one in task.get("annotations") or task.get("completions") or []
        for result in (one.get("result") if isinstance(one, dict) else None) or []
        if isinstance(result, dict) and result.get("type") == wanted and "from_name" in result
    }
    if len(names) > 1 and CONTROL not in names:
        raise InputError(
            f"{what} has the controls {', '.join(sorted(names))}; call the one that is the label {CONTROL!r}"
        )
    return CONTROL if CONTROL in names or not names else str(next(iter(names)))


def _who(completed_by: Any) -> str:
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "" if completed_by is None else str(completed_by)


def _file(shown: str) -> str:
    """The name of a file that a task shows, without the server's own part of it; other texts as they are."""
    parts = urlsplit(shown) if "\n" not in shown and len(shown) < 2000 else None
    if parts is None or not (parts.scheme in ("http", "https", "s3", "gs") or shown.startswith("/data/")):
        named = shown
    elif parts.path.rstrip("/").endswith("/data/local-files"):
        named = parse_qs(parts.query).get("d", [""])[0]
    else:
        named = unquote(parts.path)
        if "/data/upload/" in named:
            named = _UPLOADED.sub("", PurePosixPath(named).name)
        elif parts.scheme:
            named = named.lstrip("/")
    if ".." in PurePosixPath(named.replace("\\", "/")).parts:
        raise InputError(f"names {named!r}, which leads out of its folder; it is left out")
    return named

"""The plan of a project as a file that a person can read and edit."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from askwise.errors import InputError
from askwise.project.sources import NONE, TASKS, Source

_MOST_FIRST, _FIRST_NUMBERS, _FIRST_UNNAMED = 30, 20, 15
_BATCH, _BUDGET = 10, 200
_TESTING, _REGION = 0.2, 0.3
_FEWEST_TESTS = 30  # items to test on: with hardly more than ten answers a band says next to nothing


def choices(
    source: Source,
    names: Sequence[str],
    *,
    made_of: str = "classes",
    shape: Sequence[int],
    acquire: str | None = None,
    posterior: str | None = None,
    items: int = 0,
    group: str | None = None,
    fine_tune: int = 0,
) -> dict[str, Any]:
    """The values of the plan: the defaults that were measured, and what a person chose.

    On the features of an encoder few labels go furthest with a linear layer on their principal axes, at its
    mode under a prior that the labels choose (`modal`); the first ones are those
    that stand for many others (typiclust, three for each class), the later ones those with the smallest
    margin between the two best classes. For two classes the first are random, then BALD. A fifth of the
    questions tests the model, unless there are too few `items` for a band. With `fine_tune` the encoder
    learns, too, for so many epochs in every round: no features can be kept, and axes would move.
    """
    if fine_tune and (source.encoder == NONE or source.kind != "images"):
        raise InputError(
            "--fine-tune lets an encoder of pictures learn; it goes with --images and an encoder"
        )
    featured = source.encoder != NONE or source.kind == "features"
    values: dict[str, Any] = {} if made_of == "classes" else {"task": {"name": TASKS[made_of]}}
    values |= {made_of: list(names), "data": str(source.path)}
    if source.options:
        values["data_options"] = source.options
    if source.encoder != NONE:
        values["encoder"] = source.encoder
    if fine_tune:
        values["thaw"] = fine_tune
    usual = "digits_cnn" if len(shape) == 3 else "mlp"
    values["network"] = "linear" if fine_tune else "on_axes" if featured else usual
    values["posterior"] = {"name": posterior or ("modal" if featured and not fine_tune else "laplace")}
    asked = asking(len(names), made_of=made_of, featured=featured or source.kind == "table")
    if acquire is not None:
        asked["acquire"] = acquire
    values |= asked | {"batch": _BATCH, "budget": _BUDGET}
    if items * _REGION >= _FEWEST_TESTS:
        values |= {"testing": _TESTING, "region": _REGION, **({"group": group} if group else {})}
    return values | {"seed": 0}


def asking(count: int, *, made_of: str = "classes", featured: bool) -> dict[str, Any]:
    """What is asked of so many classes, tags or numbers: how many items first and by what, then which.

    Classes that are still to be named begin as five would.
    Measured for classes; tags and numbers begin alike, and go on with what their task has instead.
    """
    later = {"tags": "bald", "numbers": "gaussian_bald"}.get(made_of, "bald" if count == 2 else "margin")
    asked: dict[str, Any] = {"acquire": later}
    first = min(3 * count, _MOST_FIRST) or _FIRST_UNNAMED
    asked["initial"] = _FIRST_NUMBERS if made_of == "numbers" else first
    if (count != 2 or made_of != "classes") and featured:
        asked["initial_select"] = "typiclust"
    return asked


def written(values: Mapping[str, Any], *, name: str) -> str:
    """The plan as TOML with a comment for every choice."""
    said = {
        "task": "What a label is.",
        "tags": "What an item can have, any number of them.",
        "numbers": "What is to be told of an item.",
        "classes": "What an item can be. New classes can be added at the end of the list, or on the page.",
        "data": "Where the items are; they stay there. Put more there and run `askwise new` again.",
        "data_options": "How they are read.",
        "encoder": "The network that turns items into features; it is not trained.",
        "thaw": "But for so many epochs at the beginning of every round, in which it learns with the rest.",
        "network": "The network that learns; on_axes: one layer on the features' principal axes.",
        "posterior": "Where the uncertainty comes from.",
        "acquire": _why(values["acquire"]),
        "initial": "So many items are asked first, before there is a model ...",
        "initial_select": "... those that are typical of many others.",
        "batch": "Questions asked together, after which the model learns again.",
        "budget": "Labels in all; raise it to go on.",
        "testing": "This share of the questions tests the model: it never learns from the answers, and so",
        "region": "knows how good it is. They come from this share of the items, drawn at random.",
        "group": "Groups of this column are tested on, or learned from, as a whole.",
        "seed": "Decides everything that chance decides.",
    }
    lines = [
        f"# The plan of {_line(name)}: what it learns, from what, and what it asks.",
        "# Every key may be changed; `askwise plan check` explains all there are.",
        "",
    ]
    tables: list[str] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            tables += ["", f"# {said[key]}", f"[{key}]"]
            tables += [f"{_key(inner)} = {toml_value(one)}" for inner, one in value.items()]
        else:
            lines += [f"# {said[key]}", f"{key} = {toml_value(value)}"]
    return "\n".join([*lines, *tables]) + "\n"


def _why(acquire: str) -> str:
    known = {
        "margin": "Then those between whose two best classes the model can hardly choose.",
        "bald": "Then those about which the model could learn most: its draws are sure, and disagree.",
    }
    return known.get(acquire, "Then those with the highest score of this name.")


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() and name.isascii() else toml_value(name)


def toml_value(value: Any) -> str:
    """A value as TOML writes it; JSON's strings are TOML's, but for one letter."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(f"{value!r} is not UTF-8, so it cannot be written into a plan; rename it")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

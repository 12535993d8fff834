"""The page of all keys of a plan, and of the options they take, from the records themselves."""

import inspect
from collections.abc import Iterator
from typing import Any

from pydantic_core import PydanticUndefined

from askwise.acquire import ACQUISITIONS
from askwise.bayes.posteriors import POSTERIORS
from askwise.loop.plan import Plan
from askwise.nets import NETWORKS
from askwise.selection import SELECTIONS
from askwise.tasks import TASKS
from askwise.train import Training
from website.tables import code, table

_GIVEN = {
    "log_probs",
    "moments",
    "seed",
    "targets",
    "scores",
    "features",
    "count",
    "ids",
    "labelled",
    "draws",
}


def page() -> str:
    """Every key of a plan with its default, then what can stand behind task, posterior and the others."""
    return "\n\n".join([_OPENING, _keys(), *_options()]) + "\n"


_OPENING = """# Plans
A plan is a TOML file with every choice of a run. `askwise plan check plan.toml` prints and explains it,
`askwise run plan.toml` runs it, `--set key=value` changes one key for one call. A project's plan is the
file `plan.toml` in its folder. `aw.Learner(...)` takes the same keys as arguments. An unknown key is
refused, with the nearest known one.

## Keys"""


def _keys() -> str:
    rows = [(code(key), _usual(field), field.description or "") for key, field in Plan.model_fields.items()]
    return table(["key", "by default", "what it is"], rows)


def _usual(field: Any) -> str:
    value = field.default
    if value is PydanticUndefined or value is None:
        return ""
    return code(
        _toml(value.model_dump(exclude_defaults=True) or 0 if hasattr(value, "model_dump") else value)
    )


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)


def _options() -> Iterator[str]:
    yield "## Tasks: `task`"
    yield _listed(TASKS, "task")
    yield "## Posteriors: `posterior`"
    yield (
        'Written `posterior = "laplace"`, or with options `posterior = {name = "bbb", last = 2}`. '
        "[The posteriors](../method.md) says which to take."
    )
    yield _listed(POSTERIORS, "posterior")
    yield "## Training: `training`"
    yield table(["option", "by default"], _parameters(Training))
    yield "## Scores: `acquire`"
    yield _listed({name: one.function for name, one in ACQUISITIONS.items()}, "score")
    yield "## Selections: `select`"
    yield _listed({name: one.function for name, one in SELECTIONS.items()}, "selection")
    yield "## Networks: `network`"
    yield _listed(NETWORKS, "network")


def _listed(makers: Any, what: str) -> str:
    rows = []
    for name, make in makers.items():
        options = ", ".join(f"`{key} = {usual}`" if usual else f"`{key}`" for key, usual in _bare(make))
        rows.append((code(name), (inspect.getdoc(make) or "").split("\n")[0], options))
    return table([what, "what it is", "options"], rows)


def _bare(make: Any) -> list[tuple[str, str]]:
    return [(key.strip("`"), usual.strip("`")) for key, usual in _parameters(make)]


def _parameters(make: Any) -> list[tuple[str, str]]:
    found = inspect.signature(make).parameters.values()
    return [
        (code(one.name), "" if one.default in (None, one.empty) else code(_toml(one.default)))
        for one in found
        if one.name not in _GIVEN
    ]

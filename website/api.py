"""The pages of all public names, one for `askwise` and one for each of its rooms."""

import ast
import importlib
import inspect
from types import ModuleType
from typing import Any

import askwise
from website.tables import code, table

_MORE = {"engine": "askwise.engine", "sklearn": "askwise.sklearn"}
"""Rooms that are not attributes of `askwise` and are documented too."""


def rooms() -> dict[str, str]:
    """The rooms with public names, by the name that people write: `assess`, `nets`, ..."""
    inside = {name: f"askwise.{name}" for name in askwise.__all__ if _is_room(name)}
    return dict(sorted((inside | _MORE).items()))


def _is_room(name: str) -> bool:
    return isinstance(getattr(askwise, name), ModuleType)


def names() -> dict[str, str]:
    """Where every public name of `askwise` itself is defined; rooms left out."""
    homes = {name: home.replace(":", ".") for name, home in askwise._HOMES.items() if not home.endswith(":")}
    return {
        name: defined_in(home.rpartition(".")[0], home.rpartition(".")[2]) for name, home in homes.items()
    }


def names_of(room: str) -> dict[str, str]:
    """Where every public name of a room is defined."""
    module = importlib.import_module(room)
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", None) == room]
    public = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
    return {name: defined_in(room, name) for name in public}


def defined_in(module: str, name: str) -> str:
    """The dotted path of the name where it is defined, followed through imports."""
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askwise"):
            for imported in node.names:
                if (imported.asname or imported.name) == name and node.module != module:
                    return defined_in(node.module, imported.name)
    return f"{module}.{name}"


def pages() -> dict[str, str]:
    """Every page of the API, by where it is on the site."""
    made = {"reference/api/askwise.md": _page("askwise", _OPENING, "aw", names())}
    for room, path in rooms().items():
        said = (importlib.import_module(path).__doc__ or "").strip()
        written = path if room in _MORE else f"aw.{room}"
        made[f"reference/api/{room}.md"] = _page(written, said, written, names_of(path))
    return made


_OPENING = """Options are passed by name. Whatever takes items takes a tensor, an array, a torch Dataset or
DataLoader, a pool, or a pandas or Arrow table of numbers. The examples are run by the tests. They begin with

```python
import torch, askwise as aw
x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))  # sixty items
y = (x[:, 0] > 0).long()                                            # their classes
network = aw.nets.mlp(4, 2, hidden=(16,), dropout=0.5)              # any torch module
short = aw.Training(epochs=2)                                       # enough for an example
fitted = aw.fit(network, (x, y), training=short, seed=0)
```"""


def _page(title: str, opening: str, written: str, found: dict[str, str]) -> str:
    parts = [f"# {title}", opening]
    values = {name: value for name, path in found.items() if _plain(value := _object(path))}
    for name, path in sorted(found.items(), key=lambda pair: pair[0].lower()):
        if name not in values:
            options = f'    options:\n      heading: "{written}.{name}"\n      toc_label: {name}'
            if path.endswith(".Config"):  # what a posterior does is for those who write one
                options += "\n      members: false"
            parts.append(f"::: {path}\n{options}")
    if values:
        rows = [(code(f"{written}.{name}"), _shown(value)) for name, value in sorted(values.items())]
        parts += ["## Values", table(["name", "what it is"], rows)]
    return "\n\n".join(parts) + "\n"


def _object(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _plain(value: Any) -> bool:
    return not isinstance(value, type | ModuleType) and not callable(value)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return code(value)
    names = [str(one) for one in value] if isinstance(value, dict | tuple | list) else []
    return ", ".join(map(code, names)) or (type(value).__doc__ or "").split("\n")[0]

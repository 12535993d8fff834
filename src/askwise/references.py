"""Python objects as people write them: `module:attribute` in a plan, and records as Python code."""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from askwise.errors import InputError


def is_reference(text: str) -> bool:
    """Whether a name stands for an object of one's own rather than for one of askwise."""
    return ":" in text


def reference_to(thing: Any) -> str:
    """What to call an object in a plan; whoever opens the run again passes the object itself."""
    return f"{getattr(thing, '__module__', '?')}:{getattr(thing, '__qualname__', type(thing).__name__)}"


def written(name: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """An object as Python code makes it, with the options that differ from their defaults."""
    changed = {key: value for key, value in options.items() if value != defaults.get(key)}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in changed.items())})"


def defaults_of(record: Any) -> dict[str, Any]:
    """The default of every field of a dataclass that has one."""
    return {one.name: one.default for one in fields(record) if one.default is not MISSING}


def imported(reference: str, *, what: str, folder: Path | None = None) -> Any:
    """The object that `module:attribute` names; one in `folder` comes first, then the present folder."""
    module, _, attribute = reference.partition(":")
    if not module or not attribute:
        raise InputError(f"{what} of one's own is written module:attribute, not {reference!r}")
    found: Any = _module(module, what, folder)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise InputError(f"{what} {reference!r}: module {module!r} has no {attribute!r}")
        found = getattr(found, name)
    return found


def _module(name: str, what: str, folder: Path | None) -> Any:
    places = [place / f"{name.replace('.', '/')}.py" for place in (folder or Path(), Path())]
    file = next((place for place in places if place.is_file()), places[0])
    try:
        if not file.is_file():
            return importlib.import_module(name)
        known = f"askwise_own.{file.resolve()}"  # its place tells it from others of the same name
        if known not in sys.modules:
            spec = importlib.util.spec_from_file_location(known, file)
            assert spec is not None and spec.loader is not None  # noqa: S101, PT018  a .py file has both
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[known] = module
        return sys.modules[known]
    except ModuleNotFoundError as error:
        raise InputError(
            f"there is no module {error.name!r} for the {what} {name!r}; "
            f"put {name}.py beside the plan, or install it"
        ) from error
    except Exception as error:  # the user's code: say where it failed
        raise InputError(
            f"the module {name!r} of the {what} fails when it is loaded: {type(error).__name__}: {error}"
        ) from error

"""Plans in TOML files, and settings such as `batch=5` laid over them."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.loop.plan import Plan, make


def read(path: str | Path, *, overrides: Iterable[str] = ()) -> Plan:
    """The plan in a TOML file, after overrides such as `batch=5` or `training.epochs=10`."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no plan {str(path)!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"plan {str(path)!r} cannot be read: {error}") from None
    return make(override(values, overrides))


def override(values: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """The values with `key=value` settings laid over; a dot leads into a table."""
    changed = dict(values)
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise InputError(f"a setting is written key=value, not {setting!r}")
        *tables, last = key.strip().split(".")
        place = changed
        for table in tables:
            inner = place.get(table, {})
            if not isinstance(inner, Mapping):
                raise InputError(f"{table!r} is a value, not a table, so {key!r} cannot be set")
            place[table] = dict(inner)
            place = place[table]
        place[last] = _value(text.strip())
    return changed


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a bare word is a word: --set acquire=bald

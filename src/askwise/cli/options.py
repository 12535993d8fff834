"""Options that several commands share, and how their values are read."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from askwise.errors import InputError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

DataDir = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Folder of data sets, instead of ASKWISE_DATA and the cache."),
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change the plan, e.g. batch=5 or training.epochs=20; repeatable."
    ),
]

_MOST_SEEDS = 1000


def seeds(text: str) -> list[int]:
    """Seeds from `7`, `0-4` or `0,3,8-10`."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,18})(?:-([0-9]{1,18}))?\s*", part)
        if match is None:
            raise InputError(f"seeds are written 7, 0-4 or 0,3,8-10, not {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"seeds {part.strip()!r} run backwards; write {last}-{first}")
        if last - first >= _MOST_SEEDS:
            raise InputError(f"seeds {part.strip()!r} are more than {_MOST_SEEDS}")
        found += range(first, last + 1)
    if len(set(found)) < len(found):
        raise InputError(f"seeds {text!r} name one of them twice")
    return found


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(value, allow_nan=False))


def item_line(identity: str, name: str) -> str:
    """An item in one line: its id, and its name where that is another."""
    return identity if name == identity else f"{identity}  {name}"

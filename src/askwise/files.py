"""Files that are whole or not there: written and synced before they get their name."""

import json
import os
from pathlib import Path
from typing import Any


def sync(path: Path) -> None:
    """Make sure that a file or the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is whole and on the disk, or not there at all."""
    draft = path.with_suffix(path.suffix + ".part")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is no such file or no object in it."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

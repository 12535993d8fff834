"""Finished rows, kept one by one with the commit that made them."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from askwise.errors import CorruptError
from askwise.files import leave_lock, take_lock


def commit() -> str | None:
    """The commit of the checkout that askwise runs from, marked where it was changed; none if installed."""
    root, git = Path(__file__).resolve().parents[3], shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    done = subprocess.run(  # noqa: S603 - a fixed command, no shell
        [git, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],  # the hash, not a tag near it
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


def conditions() -> dict[str, Any]:
    """What is written beside every row of a journal."""
    return {
        "askwise": version("askwise"),
        "commit": commit(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a journal; a last line that was cut off by a crash is none."""
    if not path.exists():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            if number == len(lines):
                break  # written without its end of line
            raise CorruptError(f"line {number} of {path} is damaged; take it out, or restore it") from error
    return rows


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Put a row at the end, on the disk when this returns; what is left of a cut-off line goes.

    Processes that append to one file wait for each other.
    """
    line = json.dumps(row, allow_nan=False).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        take_lock(file.fileno())
        try:
            file.seek(0)
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)
            file.seek(whole)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        finally:
            leave_lock(file.fileno())

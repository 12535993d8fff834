"""Which state of the source a result comes from, and what it was computed with."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import torch

from askwise import __version__


def commit() -> str | None:
    """The commit of the checkout that askwise runs from, marked where it was changed; none if installed."""
    root, git = Path(__file__).resolve().parents[3], shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    done = subprocess.run(  # noqa: S603 - a fixed command, no shell
        [git, "describe", "--always", "--abbrev=40", "--dirty"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


def conditions() -> dict[str, Any]:
    """What is written beside every row of a journal."""
    return {
        "askwise": __version__,
        "commit": commit(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
    }

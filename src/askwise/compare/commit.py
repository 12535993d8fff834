"""Which state of the source a result comes from."""

import shutil
import subprocess
from pathlib import Path


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

"""Where a result comes from."""

import subprocess
from pathlib import Path


def commit() -> str:
    """The commit of the code that runs, marked where it has been changed since."""
    here = Path(__file__).parent.parent
    run = subprocess.run(
        ["git", "describe", "--always", "--abbrev=40", "--dirty"],
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()

"""Where a result comes from."""

import subprocess
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_CODE = ("src", "benchmarks", "constraints.txt", "pyproject.toml")  # what a result depends on


def commit() -> str:
    """The commit of the code that runs, marked where code (not results) has been changed since."""
    changed = _git("status", "--porcelain", "--", *_CODE)
    return _git("rev-parse", "HEAD") + ("-dirty" if changed else "")


def code() -> str:
    """The code that runs, whatever was committed beside it: equal before and after a commit of results."""
    trees = _git("rev-parse", *(f"HEAD:{part}" for part in _CODE))
    return f"{trees} {_git('status', '--porcelain', '--', *_CODE)}"


def _git(*words: str) -> str:
    run = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()

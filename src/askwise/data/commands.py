"""Runs the package tools of the machine."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from askwise.errors import AskwiseError

_SECONDS = 1800


class ToolError(AskwiseError):
    """A package tool is not installed, or did not do what it was asked."""


def run(command: Sequence[str], *, folder: Path, output: Path | None = None) -> None:
    """Run the command in a folder; what it prints goes to `output`, if given."""
    program = shutil.which(command[0])
    if program is None:
        raise ToolError(f"{command[0]} is not installed")
    try:
        with (output or folder / "printed.txt").open("wb") as printed:
            done = subprocess.run(  # noqa: S603 - fixed commands, no shell
                [program, *command[1:]],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                timeout=_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired as reason:
        raise ToolError(f"{command[0]} was not done after {_SECONDS} seconds") from reason
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        hint = " (apt-get update makes it known)" if "Unable to locate package" in said[-1] else ""
        raise ToolError(
            f"{Path(command[0]).name} failed with code {done.returncode}: {said[-1].strip()}{hint}"
        )

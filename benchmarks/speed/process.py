"""A contestant's process, as the driver sees it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PEERS = HERE.parent / ".venv-peers" / "bin" / "python"
OWN = ("askwise", "plain")  # these run in askwise's environment
_PATIENCE = 3  # seconds for a process to end by itself


class ContestantError(Exception):
    """A contestant that could not do its task, and why."""


class Contestant:
    """A process that prepares and runs tasks; started when first asked, ended by `close`."""

    def __init__(self, name: str, *, threads: int) -> None:
        self.name, self._threads = name, threads
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115  its stderr, read when it dies

    @property
    def pid(self) -> int:
        """The root of its process tree."""
        return self._started().pid

    def ask(self, do: str, task: str, options: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Its answer; an error if it has none."""
        process = self._started()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps({"do": do, "task": task, "options": options, **more}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ContestantError(f"{self.name} ended with code {process.wait()}: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ContestantError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin
            self._process.stdin.close()
            try:
                self._process.wait(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:  # in the middle of a task that nobody waits for any more
                self._process.terminate()
                self._process.wait()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            python = sys.executable if self.name in OWN else str(PEERS)
            if not Path(python).exists():
                raise ContestantError("the peers' environment is missing; make it with: make peers")
            self._process = subprocess.Popen(
                [python, "-m", "peers.serve", self.name, str(self._threads)],
                cwd=HERE,
                env={**os.environ, "OMP_NUM_THREADS": str(self._threads)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
            )
        return self._process

    def _last_words(self) -> str:
        self._said.seek(0)
        return (self._said.read().strip().splitlines() or ["no message"])[-1]

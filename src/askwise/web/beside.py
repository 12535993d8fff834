"""A process beside the server: started afresh, ended by the end of a pipe, started again if it dies."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeAlias

from askwise.web.child import ELSEWHERE

Message: TypeAlias = dict[str, Any]

_FIRST, _LONGEST = 0.2, 5.0  # seconds before it is begun again, doubled with every death soon after the start
_SOON = 10.0
_ELSEWHERE = 15.0  # the longest where another server of the store has the trainer
_GRACE = 35.0  # seconds to leave a last model on the disk


class Beside:
    """One Python module that runs for as long as the server does, and the messages it sends."""

    def __init__(self, module: str, folder: Path) -> None:
        self.module = module
        self.deaths, self._code = 0, 0
        self._command = [sys.executable, "-m", module, str(folder)]
        self._told: Callable[[Message], None] = lambda _: None
        self._followed = Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._over, self._again = Event(), False
        self._thread = Thread(target=self._watch, name=module, daemon=True)

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, and again whenever it dies, until `stop`; a second call does nothing."""
        if self._thread.ident is None:
            self._thread.start()

    def follow(self, told: Callable[[Message], None]) -> None:
        """Call a function with every message, from the first on; until then they wait in the pipe."""
        self._told = told
        self._followed.set()

    def send(self, message: Message) -> None:
        """Send a message; a process that is not there misses nothing: it reads the store when it starts."""
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError):
            pass  # it has died; the next one reads everything from the store

    def restart(self) -> None:
        """Have it read the project anew."""
        self._again = True
        self._close_pipe()

    def stop(self) -> None:
        """End it: first by the end of its pipe, so that it can put its work away."""
        self._over.set()
        self._followed.set()
        self._close_pipe()
        process = self._process
        if process is not None:
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._thread.ident is not None:
            self._thread.join(_GRACE)

    def kill(self) -> None:
        """End it at once, and for good; what it has not put away can be made again."""
        self._over.set()
        process = self._process
        if process is not None:
            process.kill()

    def _close_pipe(self) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    def _watch(self) -> None:
        pause = _FIRST
        while not self._over.is_set():
            began = monotonic()
            self._run()
            if self._over.is_set():
                return
            if self._again:
                self._again, pause = False, _FIRST
                continue
            self.deaths += 1
            longest = _ELSEWHERE if self._code == ELSEWHERE else _LONGEST
            pause = _FIRST if monotonic() - began > _SOON else min(2 * pause, longest)
            self._over.wait(pause)

    def _run(self) -> None:
        """One life of the process."""
        process = subprocess.Popen(  # noqa: S603 - our own module under our own interpreter
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # the terminal's Ctrl+C is the server's alone
        )
        self._process = process
        if self._over.is_set() or self._again:
            self._close_pipe()
        assert process.stdout is not None  # noqa: S101 - it was asked for
        with process.stdout as lines:
            self._followed.wait()
            for line in lines:
                try:
                    self._told(json.loads(line))
                except ValueError:
                    continue  # killed within a line
        self._code = process.wait()
        self._close_pipe()


class Pair:
    """The trainer and the encoder of a project; to have them before the server has loaded saves seconds."""

    def __init__(self, folder: Path, *, encodes: bool) -> None:
        self.trainer = Beside("askwise.web.trainer", folder)
        self.encoder = Beside("askwise.web.encoder", folder) if encodes else None

    def start(self) -> None:
        """Begin both."""
        self.trainer.start()
        if self.encoder is not None:
            self.encoder.start()

    def stop(self) -> None:
        """End both."""
        for process in (self.encoder, self.trainer):
            if process is not None:
                process.stop()

    def kill(self) -> None:
        """End both at once; `stop` has nothing to wait for then."""
        for process in (self.encoder, self.trainer):
            if process is not None:
                process.kill()

"""The other end of `beside`: a process that hears when the server ends, and tells it what it does."""

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from askwise.errors import AskwiseError, InUseError

ELSEWHERE = 3
"""The exit code of a trainer whose store has another one: that of another server, perhaps."""


class Line:
    """The connection to the server, both ways."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # what anybody prints is no message
        self._lock = Lock()
        self.over, self.woken = Event(), Event()
        self.grace = 0.0
        """Seconds to put the work away after the server has ended."""
        self.heard: deque[dict[str, Any]] = deque()
        Thread(target=self._listen, daemon=True).start()

    def tell(self, kind: str, **values: Any) -> None:
        """Send one message to the server; if it is gone, end this process."""
        try:
            with self._lock:
                self._out.write(json.dumps({"kind": kind, **values}).encode() + b"\n")
                self._out.flush()
        except OSError:
            self.over.set()

    def _listen(self) -> None:
        for line in _lines(0):
            try:
                self.heard.append(json.loads(line))
            except ValueError:
                continue
            self.woken.set()
        self.over.set()
        self.woken.set()
        Event().wait(self.grace)
        os._exit(0)


def _lines(number: int) -> Iterator[bytes]:
    """The lines of a file by its number; a thread that waits within `sys.stdin` makes the end an abort."""
    rest = b""
    while some := os.read(number, 1 << 16):
        *whole, rest = (rest + some).split(b"\n")
        yield from whole


def main(work: Callable[[Path, Line], None]) -> None:
    """Do the work until the server ends; a refusal is told in one line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C ends the server, and the end of its pipe this
    line = Line()
    try:
        work(Path(sys.argv[1]), line)
    except InUseError:
        line.tell("elsewhere")
        sys.exit(ELSEWHERE)
    except AskwiseError as error:
        line.tell("refused", error=" ".join(str(error).split()))
        sys.exit(2)

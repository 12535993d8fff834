"""Work in a process of its own, forked from this one: a new one takes seconds to import torch."""

import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Forked:
    """A child of this process, with what is used of `subprocess.Popen`."""

    def __init__(self, pid: int, *, stdin: Any = None, stdout: Any = None) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            with suppress(ChildProcessError):  # not a child yet: its first parent is still ending
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("forked", timeout or 0)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kill it, and keep nothing of it."""
        self.kill()
        self.wait()
        self.stdout.close()


def forked(work: Callable[[], object]) -> Forked:
    """`work` in a child whose standard output is a pipe; it ends with 0, or with 1 after an exception."""
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of threads: none of ours holds a lock here
        child = os.fork()
    if child == 0:
        os.close(out)
        become(into, work)
    os.close(into)
    return Forked(child, stdout=os.fdopen(out))


def printed(work: Callable[[], object]) -> str:
    """All that `work` prints in a child, which must end well."""
    child = forked(work)
    try:
        found: str = child.stdout.read()
        assert child.wait() == 0
        return found
    finally:
        child.end()


def become(out: int, work: Callable[[], object]) -> None:
    """Do the work in this child with that end of a pipe for its output, and never return."""
    code = 1
    try:
        os.dup2(out, 1)
        os.close(out)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        warnings.resetwarnings()  # those of the tests are errors
        work()
        sys.stdout.flush()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)

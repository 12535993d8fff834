"""`askwise label` and the processes beside it, forked from one that has loaded everything.

What runs is what runs otherwise; only reading torch from the disk, seconds for each process, is left out.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from killed_page import Server

import askwise.runs.build
import askwise.web.serve  # noqa: F401 - loaded once, for all of them
from askwise.cli import call
from askwise.web import beside, child
from askwise.web.encoder import encode
from askwise.web.trainer import train

_SUBREAPER = 36  # of prctl: whoever loses a parent below this process becomes its child


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


class Preloaded(Server):
    """The server as `killed_page` has it, begun by a fork."""

    def start(self) -> None:
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            words = ["label", str(self._folder), "--no-browser", "--port", str(self.port)]
            _become("server", into, lambda: _serve(words))
        os.close(into)
        self.process = Forked(child, stdout=os.fdopen(out))
        self._take_link()

    def _is(self, pid: int, module: str) -> bool:
        with suppress(OSError):
            return Path(f"/proc/{pid}/comm").read_text().strip() == module
        return False


def _serve(words: list[str]) -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    ours, theirs = socket.socketpair()
    if os.fork() == 0:  # before the server has a thread
        ours.close()
        _named("beside")
        _begin_others(theirs)
    theirs.close()
    one_at_a_time = Lock()

    def begun(command: list[str], **_: Any) -> Forked:
        to_read, write = os.pipe()
        read, to_write = os.pipe()
        with one_at_a_time:
            socket.send_fds(ours, [json.dumps(command[2:]).encode()], [to_read, to_write])
            pid = int.from_bytes(ours.recv(8))
        os.close(to_read)
        os.close(to_write)
        return Forked(pid, stdin=os.fdopen(write, "wb"), stdout=os.fdopen(read, "rb"))

    beside.subprocess.Popen = begun  # type: ignore[assignment, misc]
    call(words)


def _begin_others(line: socket.socket) -> None:
    """Fork what the server asks for, and leave it to the server; end with the server."""
    while True:
        asked, handles, _, _ = socket.recv_fds(line, 10_000, 2)
        if not asked:
            os._exit(0)
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child:
                line.send(child.to_bytes(8))
                os._exit(0)
            line.close()
            _run(*json.loads(asked), *handles)
        os.waitpid(between, 0)
        for handle in handles:
            os.close(handle)


def _run(module: str, folder: str, read: int, write: int) -> None:
    os.dup2(read, 0)
    os.close(read)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.argv = [module, folder]
    work = {"askwise.web.trainer": train, "askwise.web.encoder": encode}[module]
    _become(module.rpartition(".")[2], write, lambda: child.main(work))


def _become(name: str, out: int, work: Any) -> None:
    """Do the work in this child with that end of a pipe for its output, and never return."""
    code = 1
    try:
        os.dup2(out, 1)
        os.close(out)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        _named(name)
        warnings.resetwarnings()  # those of the tests are errors
        work()
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def _named(name: str) -> None:
    Path("/proc/self/comm").write_text(name)

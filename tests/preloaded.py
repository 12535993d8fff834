"""`askwise label` and the processes beside it, forked from one that has loaded everything.

What runs is what runs otherwise; only reading torch from the disk, seconds for each process, is left out.
"""

import ctypes
import json
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from forked import Forked, become, forked

import askwise.runs.build
import askwise.web.serve  # noqa: F401 - loaded once, for all of them
from askwise.cli import call
from askwise.web import beside, child
from askwise.web.encoder import encode
from askwise.web.trainer import train

_SUBREAPER = 36  # of prctl: whoever loses a parent below this process becomes its child


def labelling(*words: str) -> Forked:
    """`askwise label` with these words; its first line is the link."""
    return forked(lambda: serve(*words))


def is_beside(pid: int, module: str) -> bool:
    """Whether the process is the trainer or the encoder of such a server, as `module` says."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip() == module
    return False


def serve(*words: str) -> None:
    """Become such a server."""
    _named("server")
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
    call(["label", *words])


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
    _named(module.rpartition(".")[2])
    become(write, lambda: child.main(work))


def _named(name: str) -> None:
    Path("/proc/self/comm").write_text(name)

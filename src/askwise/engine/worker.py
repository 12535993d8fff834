"""A forked worker process: it inherits the work, reads a shard ahead, and sends back results."""

import json
import os
import signal
import socket
import struct
import warnings
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import torch

from askwise.engine.contract import Shard, Work
from askwise.engine.messages import pack, told

DONE, FAILED, ALIVE = b"+", b"-", b"."
BEAT = 5.0  # seconds between two signs of life
SILENT = 120.0  # seconds without one after which a worker is given up
_LENGTH = struct.Struct("<Q")

inside = False
"""Whether this process is a worker: it has one core, so it does not start others."""


def alone() -> None:
    """From now on this process computes with one thread, and engines in it start no other processes."""
    global inside
    inside = True
    torch.set_num_threads(1)


def send(pipe: socket.socket, content: bytes) -> None:
    """One message, as a whole."""
    pipe.sendall(_LENGTH.pack(len(content)))
    pipe.sendall(content)


def receive(pipe: socket.socket) -> bytes | None:
    """One message; none where the other side has gone."""
    head = _exactly(pipe, _LENGTH.size)
    return None if head is None else _exactly(pipe, _LENGTH.unpack(head)[0])


_pipes: set[socket.socket] = set()
"""This process's ends of the pipes to all its workers: another worker must not keep one open."""


class Worker:
    """The parent's view of one worker: who it is, how to talk to it, and what it has to do."""

    def __init__(self, work: Work, *, threads: int) -> None:
        self.pipe, far = socket.socketpair()
        self.shards: dict[int, Shard] = {}
        self.heard = monotonic()
        _pipes.add(self.pipe)
        with warnings.catch_warnings():
            # Python 3.12 warns of locks that other threads may hold; the worker takes none of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            _serve(work, far, threads)
        far.close()

    def give(self, number: int, shard: Shard) -> None:
        """Hand over a shard; a worker that has died is noticed when it should answer."""
        self.shards[number] = shard
        with suppress(OSError):
            send(self.pipe, json.dumps([number, shard]).encode())

    def kill(self) -> None:
        """Tell the worker to end now."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def stop(self) -> int:
        """End the worker now; the signal or code it ended with, negative for a signal."""
        _pipes.discard(self.pipe)
        self.pipe.close()
        self.kill()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(work: Work, pipe: socket.socket, threads: int) -> None:
    """Everything that happens in the worker; it ends here, without what a process does at its end."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears of Ctrl-C, and ends its workers
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what the parent does at its end is not for a worker
        for other in _pipes:
            other.close()
        _pipes.clear()
        alone()
        torch.set_num_threads(threads)
        sending = Lock()
        Thread(target=_live, args=(pipe, sending), daemon=True).start()
        ahead: SimpleQueue[tuple[int, Any, BaseException | None] | None] = SimpleQueue()
        Thread(target=_fetch, args=(work, pipe, ahead), daemon=True).start()
        while (job := ahead.get()) is not None:
            number, fetched, error = job
            try:
                if error is not None:
                    raise error
                found = DONE + _LENGTH.pack(number) + pack(work.compute(fetched))
            except BaseException as failure:  # whatever it is, SystemExit included, the parent raises it
                found = FAILED + _LENGTH.pack(number) + json.dumps(told(failure)).encode()
            with sending:
                send(pipe, found)
        code = 0
    finally:
        os._exit(code)


def _fetch(work: Work, pipe: socket.socket, ahead: "SimpleQueue[Any]") -> None:
    while (message := receive(pipe)) is not None:
        number, shard = json.loads(message)
        try:
            ahead.put((number, work.fetch(shard), None))
        except BaseException as error:
            ahead.put((number, None, error))
    os._exit(1)  # the parent has gone, killed perhaps: nobody waits for what is being computed


def _live(pipe: socket.socket, sending: Lock) -> None:
    """Say now and then that this process runs; a stopped one does not."""
    while True:
        sleep(BEAT)
        with sending, suppress(OSError):
            send(pipe, ALIVE)


def _exactly(pipe: socket.socket, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        try:
            part = pipe.recv(min(count - len(parts), 2**20))
        except OSError:
            return None
        if not part:
            return None
        parts += part
    return bytes(parts)

"""The cores of one machine: forked processes of one thread each, or the caller where there is one shard.

Measured: two processes of one thread do more than one of two threads. A fork takes milliseconds and
shares the network, the draws and the pool, whatever they are: nothing is sent but shards and results.
"""

import json
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from multiprocessing.connection import wait  # select() knows no more than 1024 open files
from time import monotonic

from askwise.engine import worker as workers
from askwise.engine.contract import Shard, ShardResult, Work
from askwise.engine.messages import raised, unpack
from askwise.engine.threads import counted, threads
from askwise.engine.worker import DONE, Worker, receive
from askwise.errors import EngineError, InputError

_AHEAD = 2  # shards that a worker has: one computed, one fetched
_DEATHS = 3  # of workers at one shard, before it is the shard's fault
_NUMBER = struct.Struct("<Q")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forks() -> bool:
    """Whether processes are forked: on Linux, unless the environment says ASKWISE_FORK=0."""
    return sys.platform == "linux" and os.environ.get("ASKWISE_FORK", "1") != "0"


@dataclass(frozen=True)
class Local:
    """As many processes as there are cores, unless told otherwise, of one thread each.

    Where processes cannot be forked safely (other systems than Linux) it computes in the calling one;
    so it does with several threads, for OpenMP's hang in a process forked from one that has used them.

    >>> from askwise.engine import Local
    >>> aw.score_pool(fitted, x, "bald", draws=10, engine=Local(processes=1)).shape
    torch.Size([60])
    """

    processes: int | None = None
    threads: int = 1
    name: str = field(default="local", init=False)

    def __post_init__(self) -> None:
        counted("threads", self.threads)
        if self.processes is not None and counted("processes", self.processes) > 1 and self.threads > 1:
            raise InputError(
                f"{self.processes} processes compute with one thread each, not with {self.threads}; "
                "for more threads use processes=1"
            )

    @property
    def workers(self) -> int:
        """How many processes compute at a time."""
        if workers.inside or not forks() or self.threads > 1:
            return 1
        return cores() if self.processes is None else self.processes

    def map(self, make: Callable[[], Work], shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """The result of each shard, in order; the work is made here and shared by all processes."""
        rest = iter(shards)
        first = list(islice(rest, 2))
        with threads(self.threads):
            work = make()
        if len(first) < 2 or self.workers == 1:
            yield from _here(work, chain(first, rest), self.threads)
        else:
            yield from _Crew(work, self.workers, self.threads).results(chain(first, rest))


def _here(work: Work, shards: Iterable[Shard], count: int) -> Iterator[ShardResult]:
    for shard in shards:
        with threads(count):
            found = work.compute(work.fetch(shard))
        yield found


class _Crew:
    """The workers of one call."""

    def __init__(self, work: Work, count: int, threads: int) -> None:
        self._work, self._count, self._threads = work, count, threads
        self._workers: list[Worker] = []
        self._deaths: dict[int, int] = {}
        self._again: list[tuple[int, Shard]] = []
        self._done: dict[int, ShardResult] = {}

    def results(self, shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """Shards out, results in; whatever happens, no worker is left behind."""
        waiting = enumerate(shards)
        try:
            for _ in range(self._count):
                self._hire()
            wanted = 0
            while True:
                self._hand_out(waiting)
                if not any(one.shards for one in self._workers):
                    return
                self._collect()
                while wanted in self._done:
                    yield self._done.pop(wanted)
                    wanted += 1
        finally:
            for one in self._workers:  # all at once: giving back a worker's memory takes a while
                one.kill()
            for one in self._workers:
                one.stop()

    def _hire(self) -> None:
        self._workers.append(Worker(self._work, threads=self._threads))

    def _hand_out(self, waiting: Iterator[tuple[int, Shard]]) -> None:
        """Shards to those who have few, as long as not too many results wait for an earlier one."""
        for depth in range(_AHEAD):
            for one in self._workers:
                if len(one.shards) > depth:
                    continue
                job = self._again.pop(0) if self._again else self._next(waiting)
                if job is not None:
                    one.give(*job)

    def _next(self, waiting: Iterator[tuple[int, Shard]]) -> tuple[int, Shard] | None:
        held = sum(len(one.shards) for one in self._workers) + len(self._done)
        return next(waiting, None) if held < 2 * _AHEAD * self._count else None

    def _collect(self) -> None:
        """A result, a sign of life, or the loss of a worker made good."""
        ready = wait([one.pipe for one in self._workers], timeout=workers.SILENT)
        for one in [w for w in self._workers if w.pipe not in ready]:
            if monotonic() - one.heard > workers.SILENT:  # stopped, or hung where no thread of it can run
                self._replace(one)
        for one in [w for w in self._workers if w.pipe in ready]:
            message = receive(one.pipe)
            if message is None:
                self._replace(one)
                continue
            one.heard = monotonic()
            if message == workers.ALIVE:
                continue
            (number,) = _NUMBER.unpack_from(message, 1)
            content = message[1 + _NUMBER.size :]
            if message[:1] != DONE:
                raise raised(json.loads(content))
            del one.shards[number]
            self._done[number] = unpack(content)

    def _replace(self, lost: Worker) -> None:
        self._workers.remove(lost)
        code = lost.stop()
        for number, shard in sorted(lost.shards.items()):
            self._again.append((number, shard))
        first = min(lost.shards, default=-1)
        self._deaths[first] = self._deaths.get(first, 0) + 1
        if self._deaths[first] >= _DEATHS:
            raise EngineError(
                f"{_DEATHS} workers died at the same items, the last with code {code} (-9 is what a system "
                "short of memory does); use fewer processes, or look at these items"
            )
        self._hire()

"""A cluster: every shard is a plain Ray task, and only results come back.

What the work is made of is put once into Ray's store of objects; each process of the cluster makes
the work once and keeps it. A task depends on nothing but its shard, so that a process or a machine
that dies costs time only: Ray runs the task again somewhere else.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from itertools import islice
from types import TracebackType
from typing import Any
from uuid import uuid4

import torch

from askwise.engine import worker as workers
from askwise.engine.contract import Shard, ShardResult, Work
from askwise.engine.local import cores
from askwise.engine.messages import pack, raised, told, unpack
from askwise.engine.ray_session import check_version, join, leave, ray, session
from askwise.engine.threads import counted, threads
from askwise.engine.worker import DONE, FAILED
from askwise.errors import EngineError, InputError, positive

_WAITING = 4  # results that may wait for an earlier one, for each worker
_RETRIES = 4  # of a shard whose worker or machine died: more than here, for machines come and go

_made: tuple[str, Work] | None = None  # the work of the job that this process has last seen


class Ray:
    """The cluster at an address, or one of this machine that is started for the call and ended after it.

    `workers` shards are computed at a time, by default as many as the cluster has cores for, with
    `threads` each. In a `with` block a cluster is kept from call to call: it takes seconds to start.
    """

    name = "ray"

    def __init__(self, address: str | None = None, workers: int | None = None, threads: int = 1) -> None:
        if address is not None and (not isinstance(address, str) or not address):
            raise InputError(f"address must be that of a Ray cluster, such as 10.0.0.1:6379, not {address!r}")
        check_version()
        self.address = address
        self.threads = counted("threads", threads)
        self._workers = None if workers is None else positive("workers", workers)
        self._found = self._workers

    def __repr__(self) -> str:
        return f"Ray(address={self.address!r}, workers={self._workers}, threads={self.threads})"

    def __enter__(self) -> "Ray":
        join(self.address, self._cores)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leave()

    @property
    def workers(self) -> int:
        """How many shards are computed at a time; before the cluster can be asked, a guess.

        It is asked once: what is cut by this number is cut alike for the life of the engine.
        """
        if self._found is None and ray.is_initialized():
            self._found = self._room()
        return self._found or self._cores // self.threads

    def map(self, make: Callable[[], Work], shards: Iterable[Shard]) -> Iterator[ShardResult]:
        """The result of each shard, in order; the work is made once by every process of the cluster."""
        with session(self.address, self._cores):
            self._check_cores()
            try:
                put = ray.put(make)
            except TypeError as error:
                line = str(error.__cause__ or error).strip().partition("\n")[0]
                raise InputError(f"the work cannot be sent to a cluster: {line}") from error
            task = ray.remote(num_cpus=self.threads, max_retries=_RETRIES)(_compute)
            # in a list, the reference reaches the task as it is: a process that has the work needs no other
            fixed = (uuid4().hex, [put], self.threads, _conditions())
            texts = map(json.dumps, shards)
            yield from self._results(lambda text: task.remote(text, *fixed), texts)

    def _results(self, start: Callable[[str], Any], shards: Iterator[str]) -> Iterator[ShardResult]:
        """Shards out, results in; whatever happens, nothing goes on running."""
        ordered: deque[Any] = deque()
        running: list[Any] = []
        try:
            while True:
                count = self._workers or self._room()  # machines come and go
                few = min(count - len(running), _WAITING * count - len(ordered))
                new = [start(shard) for shard in islice(shards, max(0, few))]
                ordered += new
                running += new
                if not ordered:
                    return
                running = ray.wait(running, fetch_local=False)[1]
                while ordered and ordered[0] not in running:
                    yield _received(ordered.popleft())
        finally:
            for one in running:
                with suppress(ray.exceptions.RayError):
                    ray.cancel(one, force=True)

    @property
    def _cores(self) -> int:
        """What a cluster of our own is started with."""
        return self.threads * (self._workers or max(1, cores() // self.threads))

    def _room(self) -> int:
        """How many shards the machines of the cluster can compute at a time."""
        return max(1, sum(int(found) // self.threads for found in _machines()))

    def _check_cores(self) -> None:
        """An error if no machine has enough cores for a shard; one that is yet to come may have."""
        most = max(_machines(), default=0)
        if 0 < most < self.threads:
            raise InputError(
                f"threads={self.threads} wants a machine with as many cores; "
                f"the largest of the cluster has {most:g}"
            )


def _machines() -> list[float]:
    """The cores of every machine that is there."""
    return [one["Resources"].get("CPU", 0) for one in ray.nodes() if one["Alive"]]


def _conditions() -> dict[str, str]:
    """What the bits of a result depend on, beside the work."""
    return {
        "askwise": version("askwise"),
        "torch": torch.__version__,
        "CPU capability": torch.backends.cpu.get_cpu_capability(),
    }


def _compute(
    text: str, job: str, make: list[Any], count: int, conditions: dict[str, str]
) -> bytes:  # a cluster's process runs this
    try:
        workers.inside = True
        _check_conditions(conditions)
        with threads(count):
            work = _work(job, make)
            return DONE + pack(work.compute(work.fetch(json.loads(text))))
    except Exception as error:  # whatever it is, the caller raises it
        return FAILED + json.dumps(told(error)).encode()


def _work(job: str, make: list[Any]) -> Work:
    """The work of a job, made when this process first sees it."""
    global _made
    if _made is None or _made[0] != job:
        _made = None  # two jobs need not be in memory at a time
        try:
            received = ray.get(make[0])
        except ray.exceptions.RaySystemError as error:
            line = str(error).partition("\n")[0].removeprefix("System error: ")
            raise EngineError(
                f"a machine of the cluster cannot read the work: {line}; install there what is used here"
            ) from error
        _made = job, received()
    return _made[1]


def _check_conditions(wanted: dict[str, str]) -> None:
    """An error if this machine would compute other bits than the caller's."""
    for name, found in _conditions().items():
        if found != wanted[name]:
            raise EngineError(
                f"a machine of the cluster has {name} {found}, and the caller {wanted[name]}: "
                "their results would differ; make them alike (ATEN_CPU_CAPABILITY lowers the last)"
            )


def _received(reference: Any) -> ShardResult:
    """The result of a task that has ended."""
    try:
        content = ray.get(reference)
    except ray.exceptions.RayError as error:
        line = str(error).strip().partition("\n")[0]
        raise EngineError(
            f"{_RETRIES + 1} workers died at the same items ({type(error).__name__}: {line}); "
            "give them more memory, or look at these items"
        ) from error
    if content[:1] != DONE:
        raise raised(json.loads(content[1:]))
    return unpack(content[1:])

"""Many runs side by side, each alone in a process with one thread: the bits do not depend on how many."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from askwise.demo.protocol import Protocol
from askwise.engine.worker import alone
from askwise.errors import positive
from askwise.loop.decide import Action, Train, Wait
from askwise.planned import SIMULATED, learner, material, oracle

_BLINK = 0.1  # seconds between looks at the messages of the processes


@dataclass(frozen=True)
class Job:
    """One run: the name of its method, its seed, and where it is kept."""

    method: str
    seed: int
    store: Path


@dataclass(frozen=True)
class News:
    """A run has trained on so many labels."""

    job: Job
    labels: int
    accuracy: float


def run_all(
    protocol: Protocol,
    jobs: Sequence[Job],
    *,
    processes: int | None = None,
    tell: Callable[[News], None] = lambda _: None,
) -> None:
    """Bring every run to its end; those that are there already are left as they are."""
    count = min(positive("processes", processes if processes is not None else os.cpu_count() or 1), len(jobs))
    if not jobs:
        return
    context = get_context("spawn")  # a fork would inherit the threads of this process
    news: SimpleQueue[News] = context.SimpleQueue()  # no thread of its own: sent before the run is done
    with ProcessPoolExecutor(count, context, initializer=_alone, initargs=(news,)) as pool:
        waiting = {pool.submit(_work, protocol, job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=_BLINK, return_when=FIRST_COMPLETED)
                _pass_on(news, tell)
                _raise_first(done)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        _pass_on(news, tell)


def run_one(protocol: Protocol, job: Job, *, tell: Callable[[News], None] = lambda _: None) -> None:
    """Bring one run to its end in this process."""
    plan = protocol.plan(job.method, job.seed)
    known = material(plan)
    with learner(plan, known, store=job.store) as ours:

        def watch(action: Action) -> None:
            rounds = ours.rounds()
            if rounds and not isinstance(action, Train | Wait):  # once for each model
                tell(News(job, rounds[-1].labels, rounds[-1].metrics["test"]["accuracy"]))

        ours.run(oracle=oracle(SIMULATED, plan, known), progress=watch)


def _alone(news: "SimpleQueue[News]") -> None:
    """One thread for this process: two runs on two cores must not fight for them."""
    alone()
    globals()["_NEWS"] = news


def _work(protocol: Protocol, job: Job) -> None:
    run_one(protocol, job, tell=globals()["_NEWS"].put)


def _pass_on(news: "SimpleQueue[News]", tell: Callable[[News], None]) -> None:
    while not news.empty():
        tell(news.get())


def _raise_first(done: set[Future[None]]) -> None:
    for future in done:
        future.result()

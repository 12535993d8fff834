"""What the engine of one machine promises beyond tests/conformance/test_engines.py."""

import os
import resource
import signal
import threading
import time
from contextlib import ExitStack

import pytest
import torch
from descendants import descendants, gone
from forked import forked

from askwise.engine import Local, ShardResult, Work
from askwise.engine.local import cores
from askwise.errors import EngineError, InputError


def where(shard):
    return ShardResult((torch.tensor(shard),), {"pid": os.getpid()})


def pids(engine, count):
    return {one.notes["pid"] for one in engine.map(lambda: Work(lambda shard: shard, where), [[0]] * count)}


def test_by_default_there_is_a_process_for_each_core():
    assert Local().workers == cores()


def test_one_shard_or_one_process_needs_no_fork():
    assert pids(Local(2), 1) == {os.getpid()}
    assert pids(Local(1), 5) == {os.getpid()}
    assert os.getpid() not in pids(Local(2), 5)


@pytest.mark.parametrize("options", [{"processes": 0}, {"processes": -1}, {"threads": 0}])
def test_a_number_below_one_is_refused(options):
    with pytest.raises(InputError, match="whole number of at least 1"):
        Local(**options)


def test_several_threads_compute_in_this_process_where_they_cannot_hang():
    assert Local(threads=2).workers == 1
    assert pids(Local(threads=2), 3) == {os.getpid()}
    with pytest.raises(InputError, match="for more threads use processes=1"):
        Local(2, threads=2)


def test_the_work_is_made_once_and_shared():
    made = []

    def make():
        made.append(os.getpid())
        return Work(lambda shard: shard, where)

    list(Local(2).map(make, [[at] for at in range(8)]))
    assert made == [os.getpid()]


def test_it_works_beside_a_thousand_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1300:
        pytest.skip("so many files may not be open here")
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1300, hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100):
            stack.enter_context(open(os.devnull))  # noqa: PTH123 - a thousand of them
        assert len(pids(Local(2), 6)) == 2


def at_work_for_long():
    """Shard after shard, each told."""

    def compute(shard):
        time.sleep(0.1)
        return ShardResult((torch.tensor(shard),))

    for _ in Local(2).map(lambda: Work(lambda shard: shard, compute), ([at] for at in range(10**6))):
        os.write(1, b"running\n")


def workers_after(number, work, *, says, times, count):
    """The workers of a process at work, which is sent a signal once it has said a line so many times."""
    driver = forked(work)
    try:
        for _ in range(times):
            assert driver.stdout.readline() == says
        workers = descendants(driver.pid)
        assert len(workers) == count
        driver.send_signal(number)
        assert driver.wait(120) != 0
        return workers
    finally:
        driver.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_no_worker_outlives_a_caller_that_is_killed(number):
    assert gone(workers_after(number, at_work_for_long, says="running\n", times=1, count=2))


def two_engines_at_work():
    """In two threads: each forks while the pipes of the other are open."""

    def compute(shard):
        os.write(1, b"busy\n")  # one write: four processes share the pipe
        time.sleep(600)
        return ShardResult((torch.tensor(shard),))

    def drive():
        list(Local(2).map(lambda: Work(lambda shard: shard, compute), [[0], [1]]))

    both = [threading.Thread(target=drive) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=str)
def test_workers_in_the_middle_of_long_work_end_with_their_caller(number):
    assert gone(workers_after(number, two_engines_at_work, says="busy\n", times=4, count=4))


@pytest.mark.parametrize("part", ["fetch", "compute"])
def test_a_worker_whose_code_wants_to_exit_is_an_error_and_no_hang(part):
    def leave(shard):
        raise SystemExit("I have had enough")

    work = Work(leave, where) if part == "fetch" else Work(lambda shard: shard, leave)
    with pytest.raises(EngineError, match="SystemExit: I have had enough"):
        list(Local(2).map(lambda: work, [[0], [1], [2]]))


def test_a_stopped_worker_is_replaced_after_the_stated_time(monkeypatch, tmp_path):
    monkeypatch.setattr("askwise.engine.worker.SILENT", 1.0)
    monkeypatch.setattr("askwise.engine.worker.BEAT", 0.1)

    def compute(shard):
        if shard == [1] and not (tmp_path / "stopped").exists():
            (tmp_path / "stopped").touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return where(shard)

    found = [
        one.tensors[0].item() for one in Local(2).map(lambda: Work(lambda s: s, compute), [[0], [1], [2]])
    ]
    assert found == [0, 1, 2]


def test_items_are_read_ahead_of_the_arithmetic():
    read = threading.Semaphore(0)  # one in each worker: it counts what that worker has read

    def fetch(shard):
        read.release()
        return shard

    def compute(shard):
        read.acquire()  # its own
        more_to_come = shard[0] < 2  # the first of each worker: later ones may have gone to the other
        ahead = not more_to_come or read.acquire(timeout=60)  # waits for ever if nobody reads meanwhile
        if more_to_come and ahead:
            read.release()
        return ShardResult((torch.tensor(shard),), {"ahead": ahead})

    found = list(Local(2).map(lambda: Work(fetch, compute), [[at] for at in range(16)]))
    assert all(one.notes["ahead"] for one in found)

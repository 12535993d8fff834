"""Where there is no fork and no kernel lock, one process does the same work with the same bits."""

import os
import subprocess
import sys
from threading import Thread

import pytest
import torch
from torch import nn

import askwise as aw
from askwise import files
from askwise.engine import Local
from askwise.errors import StoreError
from askwise.store.lock import Lock, trainer


@pytest.fixture
def no_kernel_locks(monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)


def test_without_fork_one_process_scores_the_same_bits(monkeypatch):
    x = torch.randn(700, 4, generator=torch.Generator().manual_seed(0))
    network = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    training = aw.Training(epochs=2, min_steps=4)
    model = aw.fit(network, (x[:30], torch.arange(30) % 3), posterior=aw.bbb(last=1), training=training)
    forked = aw.score_pool(model, x, "bald", draws=5, engine=Local(processes=2))
    monkeypatch.setenv("ASKWISE_FORK", "0")
    monkeypatch.setattr(os, "fork", None)  # whoever forks all the same fails
    assert Local(processes=2).workers == 1
    assert torch.equal(aw.score_pool(model, x, "bald", draws=5, engine=Local(processes=2)), forked)


def test_a_store_has_one_trainer_without_kernel_locks_too(no_kernel_locks, tmp_path):
    store = tmp_path / "s.db"
    first = Lock(store, name="s.db")
    with pytest.raises(StoreError, match="in use by this process"):
        Lock(store, name="s.db")
    assert trainer(store) == first.holder
    first.release()
    assert trainer(store) is None
    Lock(store, name="s.db").release()


def test_writers_wait_for_each_other_without_kernel_locks(no_kernel_locks, tmp_path):
    with (tmp_path / "lock").open("w") as one, (tmp_path / "lock").open("w") as other:
        assert files.take_lock(one.fileno())
        assert not files.take_lock(other.fileno(), wait=False)
        got = []
        waiting = Thread(target=lambda: got.append(files.take_lock(other.fileno())))
        waiting.start()
        assert not got
        files.leave_lock(one.fileno())
        waiting.join(120)
        assert got == [True]
        files.leave_lock(other.fileno())


def test_a_loop_runs_where_neither_is_there(tmp_path):
    code = """
import os, sys
import multiprocessing.connection, sqlalchemy, torch  # these look for themselves what a system has
sys.modules["fcntl"] = None                      # as on a system that has none
for name in ("fork", "register_at_fork", "O_CLOEXEC", "pread", "pwrite", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
os.environ["ASKWISE_FORK"] = "0"
import askwise as aw
x = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
network = torch.nn.Sequential(torch.nn.Linear(3, 2))
with aw.Learner(network, pool=x, classes=["a", "b"], acquire="margin", initial=4, batch=3, store="run.db",
                training=aw.Training(epochs=2, min_steps=4), seed=0) as learner:
    for _ in range(2):
        learner.tell({q.id: "ab"[int(x[q.row, 0] > 0)] for q in learner.ask()})
    print(learner.status().counts.labelled)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr[-2000:]

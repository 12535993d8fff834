"""Asking ten questions of a million items."""

import resource
import sys
import time

import numpy as np
import pytest
from torch import nn

from askwise.loop.learner import Learner
from askwise.pool import arrays

COUNT = 1_000_000


def peak() -> float:
    """The most memory this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.slow
def test_asking_ten_questions_of_a_million_items_keeps_memory_flat(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", dtype=np.float32, shape=(COUNT, 32))
    for start in range(0, COUNT, 100_000):
        rows[start : start + 100_000] = rng.normal(size=(100_000, 32))
    rows.flush()
    del rows
    network = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    bare = peak()
    started = time.perf_counter()
    pool = arrays(tmp_path / "x.npy")
    listed, opened = peak(), time.perf_counter() - started
    initial = {name: number % 10 for number, name in zip(range(50), pool.ids, strict=False)}
    run = Learner(
        network, pool=pool, classes=10, store=tmp_path / "run.db", initial=initial, batch=10, draws=100
    )
    stored = peak()
    started = time.perf_counter()
    assert len(run.ask()) == 10
    asked, seconds = peak(), time.perf_counter() - started
    run.close()
    sys.stdout.write(
        f"\n{COUNT} items: {bare:.0f} MB before, {listed:.0f} MB with their ids ({opened:.0f} s), "
        f"{stored:.0f} MB stored, {asked:.0f} MB after ten questions ({seconds:.0f} s); "
        f"all log-probabilities would be {COUNT * 100 * 10 * 4 / 2**20:.0f} MB\n"
    )
    assert asked - stored < 300

"""What a status reads does not grow with the pool, also where questions test the model."""

import numpy as np
import pytest

import askwise as aw
from askwise.loop.status import status
from askwise.store import open_store
from askwise.store.facts import Item

CLASSES = ["low", "high"]


def run(tmp_path, count):
    """A run of two rounds on so many items, and the rows that its store holds."""
    rows = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)
    with aw.Learner(
        aw.nets.mlp(features=3, classes=2, hidden=()),
        pool=aw.pool.arrays(rows),
        classes=CLASSES,
        posterior="laplace",
        acquire="random",
        training={"epochs": 2},
        initial=6,
        batch=6,
        budget=24,
        testing=0.3,
        region=0.3,
        store=tmp_path / f"{count}.db",
    ) as ours:
        ours.run(oracle=lambda question: int(question.id[-1], 16) % 2)
        return ours.status()


def rows_of_a_status(path, read):
    store = open_store(path, access="read")
    read.clear()
    told = status(store)
    rows = sum(read)
    store.close()
    return told, rows


@pytest.mark.parametrize("count", [3_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_status_with_test_questions_reads_as_many_rows_of_a_large_pool_as_of_a_small_one(
    tmp_path, read, count
):
    small, large = run(tmp_path, 300), run(tmp_path, count)
    told, few = rows_of_a_status(tmp_path / "300.db", read)
    assert told.counts == small.counts
    told, many = rows_of_a_status(tmp_path / f"{count}.db", read)
    assert told.counts == large.counts
    assert told.counts.items == count
    assert told.quality == large.quality
    assert many <= few + 30  # how many questions were drawn differs a little
    assert many < 300


def test_items_that_came_after_the_last_model_are_counted_too(tmp_path, read):
    before = run(tmp_path, 300).counts
    store = open_store(tmp_path / "300.db")
    store.append([Item(id=f"new {number}") for number in range(50)])
    store.close()
    told, rows = rows_of_a_status(tmp_path / "300.db", read)
    assert told.counts.items == before.items + 50
    assert 0 < told.counts.region - before.region < 50
    assert rows < 300

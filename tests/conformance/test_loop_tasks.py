"""One exam of the loop for every task: killed, corrected, skipped, quarantined, grown, and on a cluster."""

import os
import signal
from functools import partial

import numpy as np
import pytest
import torch
from run_outcome import in_child, outcome
from task_runs import IDS, LABELS, TASKS, TRUTH, items, learner

from askwise.loop.decide import Stop
from askwise.pool import arrays
from askwise.store.facts import CANNOT_TELL, SKIP, Question
from askwise.store.ledger import Ledger
from askwise.store.sql import SqlStore

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(params=TASKS)
def task(request):
    return request.param


def complete(task, path, on_write=None):
    with learner(task, SqlStore(path, on_write=on_write), budget=7) as run:
        run.run(oracle=lambda question: TRUTH[task][question.id])


def killer(number):
    """A hook that kills its process at the `number`-th write."""
    left = [number]

    def on_write(_):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    return on_write


def kill_at(task, folder, stride):
    points = []
    complete(task, folder / "whole.db", points.append)
    expected = outcome(folder / "whole.db")
    last = {point: place for place, point in enumerate(points[: len(points) * 2 // 3])}
    for number in sorted(last.values())[::stride]:
        path = folder / f"{number}.db"
        assert in_child(partial(complete, task, path, killer(number))) == -signal.SIGKILL
        complete(task, path)
        assert outcome(path) == expected, f"killed {points[number]} (point {number})"
    return len(last)


def test_killed_at_some_writes_it_ends_the_same(task, tmp_path):
    assert kill_at(task, tmp_path, stride=9) > 9


@pytest.mark.slow
def test_killed_at_a_write_of_every_kind_it_ends_the_same(task, tmp_path):
    assert kill_at(task, tmp_path, stride=1) > 9


def test_a_correction_is_learned_from_and_skips_are_not(task):
    run = learner(task, budget=8)
    first = run.ask()
    names = [question.id for question in first]
    run.tell({names[0]: SKIP, names[1]: CANNOT_TELL})
    run.tell({name: TRUTH[task][name] for name in names[2:]})
    run.ask()
    before = run.rounds()[-1]
    assert before.labels == len(names) - 2
    other = next(name for name in IDS if not _same(task, name, names[2]))
    run.tell({names[2]: TRUTH[task][other]})
    assert len(Ledger(run.store).refresh().history(names[2])) == 2
    run.run(oracle=TRUTH[task])
    corrected = run.rounds()[-1]
    assert corrected.labels == 8
    assert before.weights != corrected.weights
    assert set(Ledger(run.store).refresh().skipped) == set(names[:2])


def _same(task, one, other):
    return torch.equal(torch.as_tensor(TRUTH[task][one]), torch.as_tensor(TRUTH[task][other]))


def test_the_same_label_told_again_changes_nothing(task):
    run = learner(task)
    told = {name: TRUTH[task][name] for name in IDS[:3]}
    run.tell(told)
    before = run.store.revision
    run.tell(told)
    assert run.store.revision == before


def test_an_item_that_cannot_be_read_is_left_out(task):
    bad = items(task)[:40].numpy().copy()
    bad[5:20] = np.inf
    run = learner(task, pool=arrays(bad, ids=IDS))
    assert isinstance(run.run(oracle=TRUTH[task]), Stop)
    asked = {question.id for question in run.store.facts(Question)}
    assert not asked & set(IDS[5:20])


def test_a_pool_that_grows_is_asked_about_and_lasts(task, tmp_path):
    more = {f"new-{n}": label for n, label in enumerate(LABELS[task][40:45])}
    with learner(task, tmp_path / "run.db", pool=arrays(items(task)[:6], ids=IDS[:6]), budget=11) as run:
        run.run(oracle=TRUTH[task])
        run.add(arrays(items(task)[40:45], ids=list(more)))
        assert isinstance(run.run(oracle={**TRUTH[task], **more}), Stop)
        assert run.status().counts.labelled == 11
    with learner(task, tmp_path / "run.db", pool=arrays(items(task)[:6], ids=IDS[:6]), budget=11) as run:
        assert run.status().counts.labelled == 11
        assert run.ask() == []


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits(task, tmp_path):
    pytest.importorskip("ray")
    with learner(task, tmp_path / "ray.db", budget=7, engine="ray") as run:
        run.run(oracle=TRUTH[task])
    with learner(task, tmp_path / "local.db", budget=7) as run:
        run.run(oracle=TRUTH[task])
    assert outcome(tmp_path / "ray.db") == outcome(tmp_path / "local.db")

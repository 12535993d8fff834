"""A store of version 1 becomes one of version 2, or stays what it was."""

import json
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from askwise.store.facts import FACTS, Answer, ClassEdit, Item, Planned, Question, Round, Snapshot
from askwise.store.sql import SqlStore
from askwise.store.sql.care import check
from askwise.store.sql.writing import Writing

# Python 3.12 warns of threads; the children here start none and end by _exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

HERE = Path(__file__).parent / "version1"
"""A run of the first askwise: twelve revisions with answers, a skip, a correction and a renamed class."""


@pytest.fixture
def old(tmp_path):
    return shutil.copytree(HERE, tmp_path / "old") / "run.db"


def everything(path, access="read"):
    store = SqlStore(path, access=access)
    try:
        return store.facts(*FACTS), store.places(), list(store.ids())
    finally:
        store.close()


def rows(path, order):
    with closing(sqlite3.connect(path)) as base:
        return base.execute(order).fetchall()


def test_every_fact_of_version_1_is_there_under_its_revision(old):
    items = rows(old, "select revision, id from items order by rowid")
    answers = rows(old, "select revision, id, kind, label, author from answers order by rowid")
    asked = rows(old, "select revision, id, round, rank, score, guess from questions order by rowid")
    plans = rows(old, "select revision, plan from plans")
    rounds = rows(old, "select number, seen, weights, checkpoint, metrics from rounds")
    snapshots = rows(old, "select round, seen, count, sha256 from snapshots")
    last = rows(old, "select max(revision) from commits")[0][0]
    store = SqlStore(old)
    assert store.revision == last
    assert [(fact.revision, fact.id) for fact in store.facts(Item)] == items
    assert [(a.revision, a.id, a.verdict, a.label, a.annotator) for a in store.facts(Answer)] == answers
    assert [(q.revision, q.id, q.round, q.rank, q.score, q.guess) for q in store.facts(Question)] == asked
    assert [fact.revision for fact in store.facts(Planned)] == [revision for revision, _ in plans]
    for fact, (_, text) in zip(store.facts(Planned), plans, strict=True):
        before = json.loads(text)
        assert fact.plan["start"] == before["train"]
        assert fact.plan["training"]["batch_size"] == before["training"]["batch"]
        assert fact.plan["seed"] == before["seed"]
        assert len(fact.plan) == len(before)
    found = [(r.number, r.seen, r.weights, r.checkpoint, json.dumps(r.metrics)) for r in store.facts(Round)]
    assert found == rounds
    assert [(s.round, s.seen, s.count, s.sha256) for s in store.facts(Snapshot)] == snapshots
    edits = [(edit.edit, edit.number, edit.name) for edit in store.facts(ClassEdit)]
    assert edits == [
        ("add", 0, "red"),
        ("add", 1, "green"),
        ("add", 2, "blue"),
        ("rename", 0, "crimson"),
    ]
    assert vars(store.places()) == {"open": 2, "labelled": 4, "skipped": 1, "quarantined": 0}
    store.close()
    assert check(old) == []
    assert len(rows(old, "select name from sqlite_master where name like 'version1%'")) == 0


def test_a_reader_sees_the_same_and_leaves_the_file_as_it_is(old):
    before = old.read_bytes()
    read = everything(old)
    assert old.read_bytes() == before
    assert everything(old, "train") == read


def killed_at(number):
    """The end of a commit, the `number`-th of which kills its process."""
    left, finish = [number], Writing.finish

    def end(self, **more):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return finish(self, **more)

    return end


def test_killed_at_every_commit_of_the_migration_it_is_old_or_new(old, tmp_path):
    wanted = everything(shutil.copytree(HERE, tmp_path / "whole") / "run.db", "train")
    count = rows(old, "select max(revision) from commits")[0][0]
    for number in range(count + 1):
        path = shutil.copytree(HERE, tmp_path / str(number)) / "run.db"
        child = os.fork()
        if child == 0:
            Writing.finish = killed_at(number)
            try:
                SqlStore(path)
            finally:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == (-signal.SIGKILL if number < count else 0)
        assert rows(path, "select value from meta") == [("1" if number < count else "2",)]
        assert everything(path) == wanted

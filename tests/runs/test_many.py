"""Several runs side by side end as they do one after the other."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from descendants import descendants, gone
from tiny_plan import write_plan

from askwise.engine import Local, threads
from askwise.runs.many import run_all
from askwise.runs.material import material, read_plan
from askwise.runs.one import Ended, Run
from askwise.store import open_store
from askwise.store.facts import Question, Round, Segment
from askwise.store.lock import trainer
from askwise.store.sql import SqlStore


def facts(path):
    """What a run did: its questions and its models."""
    store = open_store(path, access="read")
    try:
        questions = [(one.id, one.round, one.score) for one in store.facts(Question)]
        return questions, [one.weights for one in store.facts(Round)], store.facts(Segment)
    finally:
        store.close()


def test_runs_of_seeds_and_plans_are_the_same_side_by_side(askwise, tmp_path):
    found = {}
    for processes in (1, 2):
        home = tmp_path / str(processes)
        home.mkdir()
        plans = [write_plan(home), write_plan(home, 'acquire = "max_entropy"\n', name="other.toml")]
        with threads(1):
            code, out, _ = askwise(
                "run", *plans, "--oracle", "simulated", "--seeds", "0-1", "--processes", processes, "--json"
            )
        assert code == 0
        assert [(run["seed"], run["labels"][-1]) for run in json.loads(out)["runs"]] == [(0, 20), (1, 20)] * 2
        found[processes] = {path.name: facts(path)[:2] for path in home.glob("*.db")}
    assert len(found[1]) == 4
    assert found[1] == found[2]
    assert found[1]["tiny-seed0.db"] != found[1]["other-seed0.db"]


def test_the_segment_says_with_how_many_threads_scores_were_computed(askwise, tmp_path):
    plan = write_plan(tmp_path)
    askwise("run", plan, "--oracle", "simulated")
    (first,) = facts(tmp_path / "tiny.db")[2]
    assert first.conditions["score_threads"] == 1
    code, _, err = askwise("run", plan, "--set", "engine_options.threads=2", "--exact")
    assert (code, "score_threads (was 1, is 2)" in err) == (2, True)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child starts no thread of its own
def test_runs_that_are_killed_together_leave_nobody_who_holds_their_stores(tmp_path):
    plan = write_plan(tmp_path)
    whole = read_plan(plan, overrides=["training.epochs=100000"])
    stores = [tmp_path / f"{seed}.db" for seed in range(2)]
    runs = [Run(whole, material(whole), store) for store in stores]
    child = os.fork()
    if child == 0:
        try:
            run_all(runs, Local(2), source="simulated")
        finally:
            os._exit(1)
    try:
        while not all(trainer(store) for store in stores):  # both are at work
            assert os.waitpid(child, os.WNOHANG) == (0, 0)
            time.sleep(0.05)
        workers = descendants(child)
        assert len(workers) >= 2
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert gone(workers)
    end = time.monotonic() + 60
    while any(trainer(store) for store in stores):  # whom a worker has begun after the list was made
        assert time.monotonic() < end
        time.sleep(0.05)
    for store in stores:
        SqlStore(store).close()


def test_an_error_in_one_run_is_told_as_it_is(askwise, tmp_path):
    plan = write_plan(tmp_path)
    (tmp_path / "tiny-seed1.db").write_text("no store")
    code, _, err = askwise("run", plan, "--oracle", "simulated", "--seeds", "0-1", "--processes", "2")
    assert code == 2
    assert "tiny-seed1.db" in err
    assert "Traceback" not in err


def test_two_runs_in_one_store_are_refused(askwise, tmp_path):
    plan = write_plan(tmp_path)
    code, _, err = askwise("run", plan, plan, "--oracle", "simulated")
    assert (code, "different stores" in err) == (2, True)


def test_an_unknown_engine_is_refused_by_name(askwise, tmp_path):
    code, _, err = askwise("run", write_plan(tmp_path), "--set", "engine=rai")
    assert (code, "did you mean 'ray'?" in err) == (2, True)


class Elsewhere:
    """Like a machine of a cluster: its processes stand in another folder."""

    name, workers, threads = "elsewhere", 2, 1

    def __init__(self, folder):
        self.folder = folder

    def map(self, make, shards):
        os.chdir(self.folder)
        work = make()
        return [work.compute(work.fetch(shard)) for shard in shards]


def test_stores_and_labels_are_found_from_another_folder(tmp_path, monkeypatch):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    monkeypatch.chdir(home)
    plan = read_plan(write_plan(home), overrides=())
    known = material(plan)
    lines = [f"{identity},{label}" for identity, label in known.labels.items()]
    Path("labels.csv").write_text("\n".join(["id,label", *lines]))
    runs = [Run(plan, known, Path(name)) for name in ("one.db", "two.db")]
    found = run_all(runs, Elsewhere(other), source="labels.csv")
    assert found == [Ended("the budget of 20 labels is spent", larger=40)] * 2
    assert {path.name for path in home.glob("*.db")} == {"one.db", "two.db"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_runs_on_a_cluster_are_those_of_one_machine(tmp_path):
    """In processes of their own: typechecked functions, as under pytest, do not travel."""
    pytest.importorskip("ray")
    found = {}
    for name, setting in (("local", "engine_options.processes=1"), ("ray", "engine=ray")):
        home = tmp_path / name
        home.mkdir()
        plan = write_plan(home)
        command = [Path(sys.executable).with_name("askwise"), "run", plan.name, "--oracle", "simulated"]
        done = subprocess.run(
            [*command, "--seeds", "0-1", "--set", setting, "--json"], cwd=home, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert [run["labels"][-1] for run in json.loads(done.stdout)["runs"]] == [20, 20]
        found[name] = {path.name: facts(path)[:2] for path in home.glob("*.db")}
    assert len(found["local"]) == 2
    assert found["local"] == found["ray"]

import json
from dataclasses import replace

import pytest

from askwise.cli import call
from askwise.demo import DEFAULT, METHODS, PROTOCOL, Job, method, runs
from askwise.engine import Local
from askwise.errors import InputError
from askwise.runs.build import SIMULATED
from askwise.runs.many import run_all
from askwise.store import open_store
from askwise.store.facts import Question, Round

TINY = replace(PROTOCOL, network="mlp", training={"epochs": 2}, initial=10, batch=5, budget=20, draws=3)


def bits(path):
    store = open_store(path, access="read")
    found = [q.id for q in store.facts(Question)], [(r.weights, r.metrics) for r in store.facts(Round)]
    store.close()
    return found


def test_the_protocol_makes_a_plan_for_every_method():
    for name in METHODS:
        plan = PROTOCOL.plan(name, 3)
        assert (plan.seed, plan.budget, plan.posterior["last"]) == (3, PROTOCOL.budget, 1)
    assert DEFAULT in METHODS
    assert method("margin").acquire == "margin"
    with pytest.raises(InputError, match="did you mean"):
        method("batchbold")


def test_runs_are_the_same_bits_whatever_the_number_of_processes(tmp_path):
    heard = set()
    for processes, folder in ((1, "one"), (2, "two")):
        (tmp_path / folder).mkdir()
        jobs = [Job("bald", 0, tmp_path / folder / "a.db"), Job("random", 1, tmp_path / folder / "b.db")]
        engine = Local(processes=processes)
        run_all(runs(TINY, jobs), engine, source=SIMULATED, on_round=lambda *news: heard.add(news[:2]))
    for name in ("a.db", "b.db"):
        assert bits(tmp_path / "one" / name) == bits(tmp_path / "two" / name)
    assert bits(tmp_path / "one" / "a.db") != bits(tmp_path / "one" / "b.db")  # control
    assert heard >= {(job.name, labels) for job in jobs for labels in (10, 15, 20)}


def test_demo_ends_with_one_json_object_and_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("askwise.demo.PROTOCOL", TINY)
    out = tmp_path / "out"
    assert (
        call(["demo", "--seeds", "0", "--budget", "20", "--processes", "1", "--out", str(out), "--json"]) == 0
    )
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert set(found["runs"]) == {DEFAULT, "random"}
    for by_seed in found["runs"].values():
        assert by_seed["0"]["labels"] == [10, 15, 20]
        assert len(by_seed["0"]["accuracy"]) == 3
        assert by_seed["0"]["labels_to_95"] is None
    assert set(found["summary"][DEFAULT]) == {
        *("n", "validation", "area"),
        *("labels_to_90", "first_hit_90", "labels_to_95", "first_hit_95"),
    }
    assert found["summary"][DEFAULT]["area"]["why"] == "one seed: no interval"
    assert found["seconds"] > 0
    assert "against random" in (out / "report.html").read_text()
    stores = {path: bits(path) for path in out.glob("*.db")}
    assert call(["demo", "--seeds", "0", "--budget", "20", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "> 20" in shown
    assert "one seed: no interval" in shown
    assert "three" in shown
    assert "first hit" in shown
    assert "report.html" in shown
    assert {path: bits(path) for path in stores} == stores, "finished runs are shown, not run again"

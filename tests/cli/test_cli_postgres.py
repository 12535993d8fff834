"""Every command that takes a store takes the address of one on a PostgreSQL server."""

import json

import numpy as np
import pytest
from tiny_plan import write_plan

from askwise.store.sql import SqlStore
from askwise.store.sql.care import check


@pytest.fixture
def address(postgres, tmp_path):
    """An empty store with a password in its address, and its models in a folder."""
    return postgres.url(tmp_path / "models").replace("askwise@", "askwise:secret@")


def test_a_plan_with_an_address_runs_and_its_store_is_looked_at_by_every_command(askwise, address, tmp_path):
    plan = write_plan(tmp_path, f'store = "{address}"\n')
    code, out, err = askwise("run", plan, "--oracle", "simulated")
    assert (code, err) == (0, "")
    assert "the budget of 20 labels is spent" in out
    for of in (plan, address):
        code, out, _ = askwise("status", of, "--json")
        [run] = json.loads(out)["runs"]
        assert (code, run["labelled"], run["rounds"]) == (0, 20, 3)
        assert "secret" not in out
    code, out, err = askwise("report", address, "--out", tmp_path / "page.html")
    assert (code, err) == (0, "")
    assert "secret" not in (tmp_path / "page.html").read_text()
    code, out, _ = askwise("doctor", address, "--json")
    found = {finding["what"]: finding["state"] for finding in json.loads(out)["findings"]}
    assert (code, found["store"], found["facts"], found["model"]) == (0, "ok", "ok", "ok")
    assert "secret" not in out
    code, out, _ = askwise("run", plan, "--oracle", "simulated", "--json")
    assert (code, "secret" in out) == (0, False)


def test_a_store_is_recovered_from_a_server_and_into_one(askwise, postgres, finished, tmp_path):
    source, target = finished.with_name("tiny-seed0.db"), postgres.url(tmp_path / "models")
    code, out, err = askwise("store", "recover", source, target)
    assert (code, err) == (0, "")
    assert "lost  nothing" in out
    code, _, _ = askwise("store", "recover", target, tmp_path / "back.db")
    assert code == 0
    facts = []
    for place in (source, target, tmp_path / "back.db"):
        assert check(place) == []
        store = SqlStore(place, access="read")
        facts.append((store.revision, store.count(), store.places()))
        store.close()
    assert facts[0] == facts[1] == facts[2]


def test_runs_of_several_seeds_need_an_address_with_the_seed_in_it(askwise, postgres, tmp_path):
    one = postgres.url(tmp_path / "models-{seed}")
    plan = write_plan(tmp_path, f'store = "{one.replace("{seed}", "x")}"\n')
    code, _, err = askwise("run", plan, "--oracle", "simulated", "--seeds", "0-1")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "write {seed} into the address of tiny.toml" in err
    number = int(one.partition("run_")[2].partition("&")[0])
    postgres.url(tmp_path / "another")
    both = one.replace(f"run_{number}", "run_{seed}")
    plan = write_plan(tmp_path, f'store = "{both}"\n')
    seeds = f"{number},{number + 1}"
    code, out, _ = askwise("run", plan, "--oracle", "simulated", "--seeds", seeds, "--json")
    assert code == 0
    assert [run["seed"] for run in json.loads(out)["runs"]] == [number, number + 1]
    assert (tmp_path / f"models-{number}").is_dir()


def test_a_server_that_is_not_there_is_one_line(askwise, tmp_path):
    for command in ("status", "report"):
        code, _, err = askwise(command, f"postgresql://nobody:secret@/run?host={tmp_path}")
        assert (code, len(err.splitlines())) == (2, 1)
        assert "secret" not in err


def test_a_project_whose_plan_names_an_address_is_corrected_exported_and_predicted_by(
    askwise, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(0, 1, (12, 2)) + np.repeat([[3], [-3]], 6, axis=0)
    np.save("x.npy", rows.astype(np.float32))
    (tmp_path / "labels.csv").write_text("row,label\n" + "\n".join(f"{n},{'ab'[n // 6]}" for n in range(12)))
    assert askwise("new", "signs", "--features", "x.npy", "--classes", "a,b")[0] == 0
    (tmp_path / "signs" / "store.db").unlink()
    plan = tmp_path / "signs" / "plan.toml"
    plan.write_text(f'store = "{address}"\n' + plan.read_text())
    assert askwise("run", "signs", "--oracle", "labels.csv")[0] == 0
    assert askwise("classes", "signs", "rename", "a", "above")[0] == 0

    def labels() -> dict[str, str]:
        assert askwise("export", "signs", "--labels", "--output", "out.jsonl")[0] == 0
        found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        return {row["id"]: row["label"] for row in found}

    before = labels()
    assert sorted(before.values()) == ["above"] * 6 + ["b"] * 6
    wrong = next(name for name, label in before.items() if label == "above")
    assert askwise("correct", "signs", wrong, "b", "--annotator", "ann")[0] == 0
    assert labels() == before | {wrong: "b"}
    assert askwise("run", "signs")[0] == 0
    assert askwise("predict", "signs")[0] == 0
    assert not (tmp_path / "signs" / "store.db").exists()

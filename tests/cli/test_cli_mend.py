"""`askwise rename` and `askwise correct`."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from askwise.project import Project
from askwise.project.mend import rename as renamed
from askwise.store import open_store
from askwise.store.facts import Answer, ClassEdit


@pytest.fixture
def made(askwise, tmp_path, monkeypatch):
    """A project of twelve rows, all of them labelled by their sign."""
    monkeypatch.chdir(tmp_path)
    rows = np.concatenate(
        [np.random.default_rng(0).normal(3, 1, (6, 2)), np.random.default_rng(1).normal(-3, 1, (6, 2))]
    )
    np.save("x.npy", rows.astype(np.float32))
    lines = ["row,label", *(f"{at},{'high' if at < 6 else 'low'}" for at in range(12))]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    assert askwise("new", "signs", "--features", "x.npy", "--classes", "high,low")[0] == 0
    assert askwise("run", "signs", "--oracle", "labels.csv")[0] == 0
    return tmp_path


def labels(askwise):
    assert askwise("export", "signs", "--labels", "--output", "out.jsonl")[0] == 0
    rows = map(json.loads, Path("out.jsonl").read_text().splitlines())
    return {row["id"]: row["label"] for row in rows}


def test_a_renamed_class_keeps_its_labels_and_the_project_goes_on(askwise, made):
    before = labels(askwise)
    code, out, err = askwise("rename", "signs", "high", "above")
    assert (code, out, err) == (0, "signs: class high is called above now\n", "")
    assert tomllib.loads((made / "signs" / "plan.toml").read_text())["classes"] == ["above", "low"]
    assert labels(askwise) == {name: {"high": "above"}.get(label, label) for name, label in before.items()}
    assert askwise("run", "signs")[0] == 0
    code, out, _ = askwise("predict", "signs", "--json")
    assert code == 0
    assert set(json.loads(out)["classes"]) == {"above", "low"}


def test_comments_of_the_plan_survive_a_rename(askwise, made):
    plan = made / "signs" / "plan.toml"
    before = plan.read_text().replace('"high"', '"above"')
    assert askwise("rename", "signs", "high", "above")[0] == 0
    assert plan.read_text() == before


def test_a_rename_cut_off_before_the_plan_was_written_is_finished_by_the_same_command(askwise, made):
    plan = made / "signs" / "plan.toml"
    before = plan.read_text()
    renamed(Project(made / "signs"), "high", "above")
    plan.write_text(before)  # as if the power had failed between the two
    assert askwise("run", "signs")[0] == 2  # the control: plan and store contradict each other
    assert askwise("rename", "signs", "high", "above")[0] == 0
    assert askwise("run", "signs")[0] == 0
    store = open_store(made / "signs" / "store.db", access="read")
    assert [fact.name for fact in store.facts(ClassEdit)] == ["high", "low", "above"]
    store.close()


def test_a_name_that_is_taken_or_no_class_is_refused_and_changes_nothing(askwise, made):
    before = (made / "signs" / "plan.toml").read_text()
    assert "class 'low' is named 2 times" in askwise("rename", "signs", "high", "low")[2]
    assert "is 'hgh', which is no class; did you mean 'high'?" in askwise("rename", "signs", "hgh", "x")[2]
    assert (made / "signs" / "plan.toml").read_text() == before


def test_a_correction_is_learned_in_the_next_round_and_the_history_keeps_both(askwise, made):
    name = next(iter(labels(askwise)))
    was = labels(askwise)[name]
    new = "low" if was == "high" else "high"
    code, out, err = askwise("correct", "signs", name, new, "--annotator", "ann")
    assert (code, err) == (0, "")
    assert out.startswith(f"{name}: {was} -> {new}\n")
    assert labels(askwise)[name] == new
    store = open_store(made / "signs" / "store.db", access="read")
    said = [fact for fact in store.facts(Answer) if fact.id == name]
    store.close()
    assert [fact.annotator for fact in said][-1] == "ann"
    assert len(said) == 2
    rounds = json.loads(askwise("status", "signs", "--json")[1])["runs"][0]["rounds"]
    assert askwise("run", "signs")[0] == 0
    assert json.loads(askwise("status", "signs", "--json")[1])["runs"][0]["rounds"] == rounds + 1


def test_an_answer_can_be_taken_back_or_said_to_be_impossible(askwise, made):
    one, two, *_ = labels(askwise)
    assert askwise("correct", "signs", one, "retract", "--json")[0] == 0
    assert json.loads(askwise("correct", "signs", two, "cannot_tell", "--json")[1])["after"] == "cannot_tell"
    found = labels(askwise)
    assert one not in found
    assert found[two] == "cannot_tell"


def test_an_unknown_item_or_label_is_one_line(askwise, made):
    assert askwise("correct", "signs", "nobody", "low")[2].startswith(
        "askwise: the pool has no item 'nobody'"
    )
    name = next(iter(labels(askwise)))
    assert "is 'lo', which is no class" in askwise("correct", "signs", name, "lo")[2]

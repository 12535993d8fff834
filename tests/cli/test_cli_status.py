import json

import pytest
from tiny_plan import write_plan

from askwise.cli.standing import _changed, further
from askwise.cli.stores import run_of
from askwise.errors import InputError
from askwise.project import open_project
from askwise.store.facts import Segment


def test_status_takes_a_plan_a_store_or_a_folder(askwise, finished):
    for of in (finished, finished.parent):
        runs = json.loads(askwise("status", of, "--json")[1])["runs"]
        assert [run["seed"] for run in runs] == [0, 1]
    (run,) = json.loads(askwise("status", finished.with_name("tiny-seed1.db"), "--json")[1])["runs"]
    assert (run["seed"], run["labelled"], run["budget"], run["rounds"]) == (1, 20, 20, 3)
    assert run["unlabelled"] + run["labelled"] == run["items"] == 1201
    assert run["validation"] == 0
    assert 0 <= run["metrics"]["accuracy"] <= 1


def test_status_says_in_words_what_comes_next(askwise, finished):
    code, out, err = askwise("status", finished)
    assert (code, err) == (0, "")
    assert "20 of 20" in out
    more = f"go on with: askwise run {finished.with_suffix('.toml')} --seeds "
    assert f"next    stop: the budget of 20 labels is spent; {more}" in out


def test_labels_for_validation_are_told_beside_those_trained_on(askwise, tmp_path):
    plan = write_plan(tmp_path, "validation = 30\n")
    code, out, _ = askwise("run", plan, "--oracle", "simulated")
    assert code == 0
    assert "with 20 labels + 30 for validation" in out
    assert "labels  20 of 20 + 30 for validation; 1,171 items" in askwise("status", plan)[1]
    (run,) = json.loads(askwise("status", plan, "--json")[1])["runs"]
    assert (run["labelled"], run["validation"]) == (20, 30)


def test_a_project_that_moves_to_its_own_encoder_has_not_changed_its_conditions():
    moved = Segment(conditions={}, changed=["encoder", "network", "weights"])
    assert _changed([Segment(conditions={}), moved]) == []
    other = Segment(conditions={}, changed=["network", "torch", "threads", "score_threads"])
    assert _changed([moved, other]) == ["network", "torch's version", "number of threads"]


def test_a_project_whose_budget_is_spent_goes_on_by_the_command_that_status_tells(askwise, made):
    assert askwise("run", "signs", "--oracle", "labels.csv", "--set", "budget=6")[0] == 0
    done = askwise("run", "signs", "--set", "budget=6")[1]
    more = "go on with: askwise run signs --set budget=24"  # there are twelve labels: 12 would be spent, too
    assert f"the budget of 6 labels is spent; {more}" in done
    assert more in askwise("status", "signs")[1]


def test_commands_to_paste_name_the_run_and_are_quoted(tmp_path):
    store = tmp_path / "my run.db"
    assert run_of(store) == ["PLAN"]
    store.with_suffix(".toml").touch()
    assert further(store, 20) == f"go on with: askwise run '{store.with_suffix('.toml')}' --set budget=20"
    assert run_of(tmp_path / "my run-seed3.db") == [str(store.with_suffix(".toml")), "--seeds", "3"]
    project = tmp_path / "my pets"
    project.mkdir()
    (project / "plan.toml").touch()
    assert run_of(project / "store.db") == [str(project)]
    assert run_of(project / "store-seed0.db") == [str(project), "--seeds", "0"]
    with pytest.raises(InputError, match=r"with: askwise new '\S*no pets' --images DIR"):
        open_project(tmp_path / "no pets")

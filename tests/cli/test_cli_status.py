import json

from tiny_plan import write_plan

from askwise.cli.standing import _changed
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
    assert (
        "next    stop: the budget of 20 labels is spent; go on with: askwise run PLAN --set budget=40" in out
    )


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
    assert "the budget of 6 labels is spent; go on with: askwise run signs --set budget=12" in done
    assert "go on with: askwise run signs --set budget=12" in askwise("status", "signs")[1]

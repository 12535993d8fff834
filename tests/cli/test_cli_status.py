import json

from tiny_plan import write_plan


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
    assert "next    stop: the budget of 20 labels is spent" in out


def test_labels_for_validation_are_told_beside_those_trained_on(askwise, tmp_path):
    plan = write_plan(tmp_path, "validation = 30\n")
    code, out, _ = askwise("run", plan, "--oracle", "simulated")
    assert code == 0
    assert "with 20 labels + 30 for validation" in out
    assert "labels  20 of 20 + 30 for validation; 1,171 items" in askwise("status", plan)[1]
    (run,) = json.loads(askwise("status", plan, "--json")[1])["runs"]
    assert (run["labelled"], run["validation"]) == (20, 30)

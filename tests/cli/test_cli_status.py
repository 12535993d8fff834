import json


def test_status_takes_a_plan_a_store_or_a_folder(askwise, finished):
    for of in (finished, finished.parent):
        runs = json.loads(askwise("status", of, "--json")[1])["runs"]
        assert [run["seed"] for run in runs] == [0, 1]
    (run,) = json.loads(askwise("status", finished.with_name("tiny-seed1.db"), "--json")[1])["runs"]
    assert (run["seed"], run["labelled"], run["budget"], run["rounds"]) == (1, 20, 20, 3)
    assert run["unlabelled"] + run["labelled"] == run["items"] == 1201
    assert 0 <= run["metrics"]["accuracy"] <= 1


def test_status_says_in_words_what_comes_next(askwise, finished):
    code, out, err = askwise("status", finished)
    assert (code, err) == (0, "")
    assert "20 of 20" in out
    assert "next    stop: the budget of 20 labels is spent" in out

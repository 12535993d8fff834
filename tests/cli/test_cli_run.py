import json
import shutil

import numpy as np
from small_project import labels
from tiny_plan import write_plan

from askwise.data import load
from askwise.pool import arrays
from askwise.store import open_store
from askwise.store.facts import Question, Round


def rounds(path):
    """Every model of a run, as its store has them."""
    store = open_store(path, access="read")
    try:
        return store.facts(Round)
    finally:
        store.close()


def test_run_reports_every_seed_as_json(askwise, finished):
    code, out, _ = askwise("run", finished, "--oracle", "simulated", "--seeds", "0-1", "--json")
    found = json.loads(out)
    assert code == 0
    assert [run["seed"] for run in found["runs"]] == [0, 1]
    assert [run["labels"] for run in found["runs"]] == [[10, 15, 20]] * 2
    assert all("20 labels" in run["stopped"] for run in found["runs"])


def test_a_finished_run_is_not_run_again(askwise, finished):
    stores = {path: rounds(path) for path in finished.parent.glob("*.db")}
    assert stores
    askwise("run", finished, "--oracle", "simulated", "--seeds", "0-1")
    assert {path: rounds(path) for path in stores} == stores


def test_without_an_oracle_a_run_waits_and_names_its_questions(askwise, tmp_path):
    plan = write_plan(tmp_path)
    code, out, _ = askwise("run", plan, "--json")
    first = json.loads(out)["runs"][0]
    assert (code, first["waits_for"], len(first["questions"])) == (0, 10, 10)
    assert json.loads(askwise("run", plan, "--json")[1])["runs"][0]["questions"] == first["questions"]
    code, out, _ = askwise("run", plan)
    assert "--oracle" in out
    assert all(asked["id"] in out for asked in first["questions"])
    assert first["questions"][0]["name"] == f"x[{first['questions'][0]['row']}]"


def test_a_file_answers_what_it_knows_and_the_run_waits_for_the_rest(askwise, tmp_path):
    plan = write_plan(tmp_path)
    questions = json.loads(askwise("run", plan, "--json")[1])["runs"][0]["questions"]
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"{asked['id']},3\n" for asked in questions[:9]))
    _, out, _ = askwise("run", plan, "--oracle", labels, "--json")
    found = json.loads(out)["runs"][0]
    assert (found["waits_for"], [asked["id"] for asked in found["questions"]]) == (1, [questions[9]["id"]])


def test_labels_that_were_not_asked_for_are_told_with_the_command_that_uses_them(askwise, made):
    (made / "more.csv").write_text("id,value,other\n" + "".join(f"n{at},{at - 20}.5,0\n" for at in range(40)))
    lines = [f"n{at},{'low' if at < 20 else 'high'}" for at in range(0, 40, 2)]
    (made / "part.csv").write_text("\n".join(["id,label", *lines]))
    new = ("new", "part", "--table", "more.csv", "--id-column", "id")
    assert askwise(*new, "--classes", "low,high")[0] == 0
    code, out, err = askwise("run", "part", "--oracle", "part.csv")
    assert code == 0
    unused = 20 - len(labels(askwise, "part"))
    assert 0 < unused < 20
    assert err.startswith(
        f"askwise: note: {unused} labels of part.csv are of items that were not asked about"
    )
    assert "askwise new part --labels part.csv" in err
    assert "on the page (askwise label part), or with: --oracle labels.csv" in out
    assert "next    answer on the page: askwise label part; or from a file" in askwise("status", "part")[1]
    assert askwise(*new, "--labels", "part.csv")[0] == 0
    assert askwise("run", "part", "--set", "retrain_after=1")[0] == 0
    assert json.loads(askwise("status", "part", "--json")[1])["runs"][0]["rounds"] == 1
    # control: a run that has all its answers says nothing of the rest
    assert askwise("run", "signs", "--oracle", "labels.csv")[2] == ""


def test_exact_refuses_other_conditions_by_name(askwise, finished, tmp_path):
    for path in finished.parent.glob("tiny*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    plan = tmp_path / finished.name
    code, _, err = askwise("run", plan, "--set", "device=cpu", "--seeds", "0", "--exact")
    assert code == 2
    assert "device (was auto, is cpu)" in err
    assert askwise("run", plan, "--set", "device=cpu", "--seeds", "0")[0] == 0
    out = askwise("status", tmp_path / "tiny-seed0.db")[1]
    assert "note    changed on the way: device; results repeat to the bit only in between" in out


def test_settings_change_the_run(askwise, tmp_path):
    plan = write_plan(tmp_path)
    _, out, _ = askwise("run", plan, "--oracle", "simulated", "--set", "batch=10", "--json")
    assert json.loads(out)["runs"][0]["labels"] == [10, 20]


def test_validation_items_are_held_out_of_the_pool(askwise, tmp_path):
    plan = write_plan(tmp_path, "validation = 50\n")
    code, _, _ = askwise("run", plan, "--oracle", "simulated", "--set", "budget=10")
    status = json.loads(askwise("status", plan, "--json")[1])["runs"][0]
    assert (code, status["items"]) == (0, 1201 - 50)


def test_a_balanced_start_asks_as_many_items_of_each_class(askwise, tmp_path):
    """By the labels of the data set, or of the file that answers."""
    plan = write_plan(tmp_path).replace(tmp_path / "plan.toml")
    plan.write_text(plan.read_text().replace("initial = 10", "initial = {per_class = 1}"))
    code, out, _ = askwise("plan", "check", plan)
    assert code == 0
    assert "initial.per_class            1" in out
    found = json.loads(askwise("run", plan, "--json")[1])["runs"][0]
    truth = load("digits")
    known = {name: int(label) for name, label in zip(truth.train_ids, truth.train_y, strict=True)}
    assert sorted(known[asked["id"]] for asked in found["questions"]) == list(range(10))
    code, out, _ = askwise("run", plan, "--oracle", "simulated", "--json")
    assert json.loads(out)["runs"][0]["labels"] == [10, 15, 20]


def test_a_balanced_start_on_unlabelled_data_takes_the_labels_of_the_file_that_answers(askwise, tmp_path):
    points = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", points)
    extra = f'data = "{tmp_path / "x.npy"}"\nclasses = ["a", "b"]\n'
    plan = write_plan(tmp_path, extra)
    text = plan.read_text().replace('data = "digits"\n', "").replace("test = 60\n", "")
    plan.write_text(
        text.replace("initial = 10", "initial = {per_class = 2}").replace("budget = 20", "budget = 4")
    )
    assert f"can run: askwise run {plan} --oracle labels.csv" in askwise("plan", "check", plan)[1]
    ids = list(arrays(tmp_path / "x.npy").ids)
    labels = dict(zip(ids, "aaabaaabaaab", strict=True))
    answers = tmp_path / "labels.csv"
    answers.write_text("id,label\n" + "".join(f"{name},{label}\n" for name, label in labels.items()))
    code, _, err = askwise("run", plan, "--oracle", answers)
    assert (code, err) == (0, "")
    store = open_store(tmp_path / "tiny.db", access="read")
    asked = [question.id for question in store.facts(Question)]
    store.close()
    assert sorted(labels[name] for name in asked) == ["a", "a", "b", "b"]

"""certify, estimate, suspects and finish on a project of one's own, and what they refuse."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tiny_plan import write_plan

import askwise as aw
from askwise.cli import call
from askwise.store import open_store
from askwise.store.facts import Answer, Attempt, Certificate, Group, Question, Round

CLASSES = ["red", "green", "blue"]
ROWS = 400


def write(path, names, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A project that has asked 80 questions, its labels, and its labels with mistakes."""
    home = tmp_path_factory.mktemp("trust")
    rng = np.random.default_rng(0)
    labels = rng.choice(3, size=ROWS, p=[0.5, 0.3, 0.2])
    points = np.eye(3)[labels] * 4 + rng.normal(size=(ROWS, 3))
    names = [CLASSES[label] for label in labels]
    write(home / "labels.csv", ["id", "label"], [(f"r{n}", name) for n, name in enumerate(names)])
    rows = [
        {"key": f"r{n}", "embedding": point, "patient": f"p{n % 60}", "year": str(2020 + n % 2)}
        for n, point in enumerate(points.round(3).tolist())
    ]
    (home / "points.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = ["new", home / "own", "--features", home / "points.jsonl", "--id-column", "key"]
    assert call([*map(str, made), "--classes", ",".join(CLASSES)]) == 0
    run = ["run", home / "own", "--oracle", home / "labels.csv", "--until", "0.99"]
    for setting in ("budget=80", "draws=10", "batch=20"):
        run += ["--set", setting]
    assert call(list(map(str, run))) == 0
    return home


def facts(home, *kinds, name="own"):
    store = open_store(home / name / "store.db", access="read")
    found = store.facts(*kinds)
    store.close()
    return found


def said(askwise, *words):
    code, out, err = askwise(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_new_project_tests_a_fifth_of_its_questions_and_status_shows_the_band(askwise, home):
    assert "testing = 0.2\n" in (home / "own" / "plan.toml").read_text()
    kinds = [fact.kind for fact in facts(home, Question)]
    assert abs(kinds.count("test") / len(kinds) - 0.2) < 0.03
    out = askwise("status", home / "own")[1]
    assert "of them to test" in out
    assert "quality accuracy between" in out
    assert "speaks of items drawn like this pool, not of new slides, patients or sources" in out
    assert "void if test answers influence training" in out
    (run,) = said(askwise, "status", home / "own")["runs"]
    assert 0 < run["quality"]["accuracy"]["low"] < run["quality"]["accuracy"]["high"] <= 1


def test_certify_writes_labels_with_their_promise_and_keeps_it(askwise, home):
    found = said(askwise, "certify", home / "own", "--error", "0.1", "--oracle", home / "labels.csv")
    assert found["certified"]
    assert "at most 10 % of these" in found["promise"]
    with Path(found["output"]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (home / "labels.csv").open(newline="") as file:
        truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    assert len(rows) == found["labels"] > 0
    assert np.mean([truth[row["id"]] != row["label"] for row in rows]) <= 0.1
    learned = {fact.id for fact in facts(home, Question) if fact.kind != "check"}
    assert not learned & {row["id"] for row in rows}
    assert "certified" in askwise("status", home / "own")[1]


def test_attempts_are_counted_and_each_must_be_surer(askwise, home):
    before = len(facts(home, Attempt))
    tight = said(askwise, "certify", home / "own", "--error", "0.0001", "--oracle", home / "labels.csv")
    assert not tight["certified"]
    assert tight["attempt"] == before + 1
    again = said(askwise, "certify", home / "own", "--error", "0.11", "--oracle", home / "labels.csv")
    assert again["attempt"] == before + 2
    assert [fact.number for fact in facts(home, Attempt)] == list(range(1, before + 3))
    assert len(facts(home, Certificate)) == before + 2


def test_what_is_certified_is_not_paid_for_again(askwise, home):
    words = ("certify", home / "own", "--error", "0.1", "--oracle", home / "labels.csv")
    before = len(facts(home, Attempt)), len(facts(home, Certificate)), len(facts(home, Question))
    again = said(askwise, *words)
    output = Path(again["output"])
    certified = output.read_bytes()
    assert (again["already"], again["attempt"]) == (True, 1)
    assert "certified already, and nothing has changed since: at most 10 % of these" in askwise(*words)[1]
    output.unlink()
    out = askwise(*words)[1]
    assert f"labels: {output}" in out
    assert output.read_bytes() == certified  # found anew, from the answers it had then
    assert (len(facts(home, Attempt)), len(facts(home, Certificate)), len(facts(home, Question))) == before
    other = said(askwise, *words, "--checks", "190")  # another claim is another attempt
    assert (other["already"], other["attempt"]) == (False, before[0] + 1)


def test_without_an_oracle_certify_says_what_to_check_and_goes_on_later(askwise, home):
    words = ("certify", home / "own", "--error", "0.12", "--checks", "150")
    first = said(askwise, *words)
    assert first["waits_for"]
    assert said(askwise, *words) == first
    assert "waits for" in askwise(*words)[1]
    last = said(askwise, *words, "--oracle", home / "labels.csv")
    assert last["attempt"] == first["attempt"]
    assert last["certified"]


def test_a_disagreement_is_asked_again_before_it_counts(home):
    checks = [fact for fact in facts(home, Question) if fact.kind == "check"]
    label = {fact.question: fact.label for fact in facts(home, Answer)}
    asked = {}
    for fact in checks:
        asked.setdefault(fact.id, []).append(fact.guess != label.get(fact.question))
    assert any(len(times) > 1 for times in asked.values()) == any(times[0] for times in asked.values())


def test_estimate_holds_the_true_share_and_says_what_a_width_takes(askwise, home):
    found = said(askwise, "estimate", home / "own", "--class", "red", "--width", "0.05")
    (whole,) = found["shares"]
    assert whole["estimate"]["low"] <= 0.5 <= whole["estimate"]["high"]
    assert whole["more"] > 0
    out = askwise("estimate", home / "own", "--class", "red", "--width", "0.001")[1]
    assert (
        f"no width of 0.001: the {whole['estimate']['pool'] - whole['estimate']['answers']} questions" in out
    )
    by = said(askwise, "estimate", home / "own", "--class", "red", "--by", "year")["shares"]
    assert [one["part"] for one in by] == ["all", "2020", "2021"]
    assert all(one["estimate"] is not None or "at least 10 answers" in one["why"] for one in by)
    out = askwise("estimate", home / "own", "--class", "red", "--by", "year")[1]
    assert "Each interval holds by itself" in out
    assert "This is a betting interval: it holds for any number of answers" in out


def test_more_answers_make_the_estimate_narrower(askwise, home):
    def width(*more):
        (one,) = said(askwise, "estimate", home / "own", "--class", "red", *more)["shares"]
        return one["estimate"]["high"] - one["estimate"]["low"]

    before = width()
    assert width("--more", "40", "--oracle", home / "labels.csv") < before


def test_suspects_come_with_a_likelier_class(askwise, home):
    found = said(askwise, "suspects", home / "own", "--count", "3")
    assert len(found["suspects"]) <= 3
    assert all(one["label"] != one["likelier"] for one in found["suspects"])
    assert found["annotators"] == {}  # the same one gave all answers
    out = askwise("suspects", home / "own", "--count", "1")[1]
    every = found["disagrees"]
    assert every >= len(found["suspects"])
    assert f"the model disagrees with {every or 'none'} of {found['labels']} labels" in out
    assert ("askwise correct" in out) == (every > 0)


def test_finish_trains_on_all_answers_and_keeps_the_limit_from_before(askwise, home):
    rounds = len(facts(home, Round))
    found = said(askwise, "finish", home / "own")
    model = aw.load(found["output"])
    kept = model.quality["before_the_final_training"]
    assert found["answers"] > facts(home, Round)[-1].labels
    assert (
        kept["accuracy"]["low"]
        == said(askwise, "status", home / "own")["runs"][0]["quality"]["accuracy"]["low"]
    )
    assert "not of new slides" in kept["promise"]
    assert len(facts(home, Round)) == rounds  # the run is left as it is


def test_a_certificate_is_void_when_the_model_is_trained_again(askwise, home):
    (run,) = said(askwise, "status", home / "own")["runs"]
    assert run["certificate"]["void"] == ""
    more = ("--set", "budget=140", "--set", "draws=10")
    assert askwise("run", home / "own", "--oracle", home / "labels.csv", *more)[0] == 0
    (run,) = said(askwise, "status", home / "own")["runs"]
    assert run["certificate"]["void"] == "the model was trained again since"
    assert "void: the model was trained again since" in askwise("status", home / "own")[1]
    attempts = len(facts(home, Attempt))
    anew = said(askwise, "certify", home / "own", "--error", "0.1", "--oracle", home / "labels.csv")
    assert (anew["already"], anew["attempt"]) == (False, attempts + 1)


def test_with_a_group_column_whole_groups_are_tested(askwise, home):
    made = ("new", home / "grouped", "--features", home / "points.jsonl", "--id-column", "key")
    assert askwise(*made, "--classes", ",".join(CLASSES), "--group", "patient")[0] == 0
    run = (
        "run",
        home / "grouped",
        "--oracle",
        home / "labels.csv",
        "--set",
        "budget=60",
        "--set",
        "draws=10",
    )
    assert askwise(*run)[0] == 0
    group = {fact.id: fact.group for fact in facts(home, Group, name="grouped")}
    asked = {kind: {group[f.id] for f in facts(home, Question, name="grouped") if f.kind == kind}
             for kind in ("learn", "test")}  # fmt: skip
    assert len(group) == ROWS
    assert asked["test"]
    assert not asked["test"] & asked["learn"]
    (found,) = said(askwise, "status", home / "grouped")["runs"]
    assert found["quality"]["accuracy"]["answers"] <= len(asked["test"])


REFUSED = {
    "certify {} --error 0": "error must lie between 0 and 1, both excluded, not 0.0",
    "certify {} --error 0.05 --confidence 1": "confidence must lie between 0 and 1",
    "certify {} --error 0.05 --checks 0": "checks must be",
    "estimate {} --class purple": "purple",
    "estimate {}": "labels of classification are estimated with --class, one of: red, green, blue",
    "estimate {} --class red --mean value": "labels of classification are estimated with --class",
    "estimate {} --class red --width 2": "--width is the length of an interval",
    "estimate {} --class red --by colour": "colour",
    "suspects {}x": "is no project: it is not there; did you mean",
    "finish {}x": "is no project: it is not there; did you mean",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_done_is_refused_in_one_line(askwise, home, words):
    code, _, err = askwise(*words.format(home / "own").split())
    assert code == 2
    assert REFUSED[words] in err
    assert len(err.strip().splitlines()) == 1


def test_the_mean_of_a_number_is_estimated_with_its_own_words(askwise, tmp_path):
    rows = np.random.default_rng(3).normal(size=(200, 2)).round(3)
    names = [f"n{number}" for number in range(200)]
    write(tmp_path / "rows.csv", ["id", "a", "b"], [(n, *row) for n, row in zip(names, rows, strict=True)])
    told = [(name, round(50 + 3 * row[0], 3)) for name, row in zip(names, rows, strict=True)]
    answers = write(tmp_path / "loads.csv", ["id", "label"], told)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'task = "regression"\nnumbers = ["load"]\ndata = "{tmp_path / "rows.csv"}"\nnetwork = "linear"\n'
        f'data_options = {{ id_column = "id" }}\nstore = "{tmp_path / "run.db"}"\ntesting = 0.5\n'
        "budget = 60\nbatch = 40\ninitial = 20\ndraws = 3\n[training]\nepochs = 5\n"
    )
    assert askwise("run", plan, "--oracle", answers)[0] == 0
    code, out, _ = askwise("estimate", plan, "--mean", "load", "--width", "5")
    assert code == 0
    assert out.startswith("mean of load, 95 % interval:\n  all: 5")
    assert "This is a t interval: right for many answers." in out
    (whole,) = said(askwise, "estimate", plan, "--mean", "load")["means"]
    assert whole["estimate"]["low"] < 50.5
    assert whole["estimate"]["high"] > 49.5
    for words in (["--class", "load"], [], ["--mean", "height"]):
        code, out, err = askwise("estimate", plan, *words)
        assert (code, out) == (2, "")
        assert "load" in err


def test_a_run_without_test_questions_has_nothing_to_estimate_by(askwise, tmp_path):
    plan = write_plan(tmp_path)
    assert askwise("run", plan, "--oracle", "simulated")[0] == 0
    code, _, err = askwise("estimate", plan, "--class", "3")
    assert code == 2
    assert "an estimate rests on test questions, and this run has none" in err

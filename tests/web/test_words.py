"""The first minutes, and the end: each state has its words."""

import pytest
from small_page import Page, rows_project, truth

from askwise.loop import saying
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.store.facts import ClassEdit, Item


def said(page):
    return page.get("/api/status").json()


def reason(page):
    return page.get("/api/questions").json()["reason"]


def test_before_the_first_answer_it_says_to_label_one(page):
    assert said(page)["next"].startswith("Label the first item")
    assert (said(page)["model"], said(page)["seen"], said(page)["given"]) == ("cold", 0, 0)


def test_without_a_class_it_says_to_name_one(page):
    for number in (0, 1):
        page.desk.store.append([ClassEdit(edit="retire", number=number)])
    assert "Name the first class" in said(page)["next"]


def test_with_one_class_it_says_what_is_missing(page):
    for one in page.questions():
        if truth(one["name"]) == "dark":
            page.answer(one, "dark")
    status = said(page)
    assert "'dark'" in status["next"]
    assert "second class" in status["next"]
    assert status["model"] == "cold"
    assert status["balance"][1] == {"name": "light", "count": 0}


def test_with_skips_alone_it_says_so(page):
    for one in page.questions(n=3):
        page.answer(one, verdict="skip")
    assert "skipped" in said(page)["next"]


def test_unclear_alone_is_no_label(page):
    for one in page.questions(n=2):
        page.answer(one, verdict="unclear")
    assert "no label yet" in said(page)["next"]


def test_while_questions_are_chosen_it_says_so(page):
    for one in page.questions():
        page.answer(one, truth(one["name"]))
    assert reason(page) == "The next questions are being chosen."


def test_while_the_encoder_has_begun_it_says_how_far_it_is(project):
    page = Page(project)
    page.live.encoder = page.live.trainer  # any process: it is not begun
    with page.client:
        for one in page.questions():
            page.answer(one, verdict="unclear")
        told = {"done": 32, "of": 40, "encoder": "lite0", "then": "lite2"}
        page.live._encoded({"kind": "encoding", "bad": {}, **told})
        assert reason(page).startswith("The encoder is at item 32 of 40")
        assert said(page)["encoding"] == {"seconds_left": None, **told}
        page.live._encoded({"kind": "encoded", "again": False})
        assert said(page)["encoding"] is None


def test_when_everything_is_labelled_it_says_what_comes_next(page):
    page.ask([name for name in page.pool_ids() if not page.desk.ledger.refresh().known(name)])
    while questions := page.questions(n=32):
        for one in questions:
            page.answer(one, truth(one["name"]))
    assert "nothing left to ask" in reason(page)
    assert said(page)["next"].startswith("Nothing is left to ask")


def test_when_the_budget_is_spent_it_says_where_to_raise_it(page):
    page.desk.plan = page.desk.plan.model_copy(update={"budget": 2})
    for one in page.questions(n=6):
        page.answer(one, truth(one["name"]))
    assert "budget of 2 labels is spent" in reason(page)
    assert "plan.toml" in said(page)["next"]


def test_a_trainer_that_cannot_work_is_quoted(page):
    page.live.tell("refused", error="the data are gone")
    assert said(page)["next"] == "The model cannot learn: the data are gone"


def test_afterwards_it_says_to_go_on(page):
    for value, one in {truth(one["name"]): one for one in page.questions(n=6)}.items():
        page.answer(one, value)
    assert said(page)["next"].startswith("Go on")


def test_the_panel_says_the_forecast_that_the_status_says(tmp_path):
    project = rows_project(tmp_path / "p", 'classes = ["a", "b"]\ntesting = 0.2\nregion = 0.4')
    page = Page(project)
    with page.client:
        assert said(page)["forecast"] is None  # the control: there is no model yet
        plan = read_plan(project.plan)
        with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
            ours.run(oracle=lambda question: int(question.id[-1], 16) % 2)
            told = [line for _, line in saying.said(ours.status().quality, plan.names)]
        assert said(page)["forecast"] in told
        assert "the next 50 labels should bring about" in said(page)["forecast"]


def test_the_panel_says_on_how_much_the_accuracy_rests_and_what_it_leaves_out(tmp_path):
    project = rows_project(tmp_path / "p", 'classes = ["a", "b"]\ntesting = 0.4\nregion = 0.4')
    page = Page(project)
    with page.client:
        plan = read_plan(project.plan)
        with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
            ours.run(oracle=lambda question: int(question.id[-1], 16) % 2)
            ours.tell({one.id: "a" for one in ours.ask_tests(12)})
            known = ours.status().quality.accuracy
        told = f"The accuracy is {saying.between(known)}, measured on {known.answers} test answers."
        assert said(page)["accuracy"]["said"] == told
        page.desk.store.append([Item(id=f"new {number}") for number in range(40)])
        assert "the band speaks of the earlier ones" in said(page)["accuracy"]["said"]


NUMBERS = 'task = "regression"'


def test_the_panel_gives_numbers_the_measure_that_the_status_gives_them(tmp_path):
    project = rows_project(tmp_path / "p", NUMBERS + "\ntesting = 0.5\nregion = 0.5")
    page = Page(project)
    with page.client:
        assert said(page)["measure"] == {
            "name": "rmse",
            "value": None,
            "said": "The rmse is not known: it needs a model, and 10 answers to test questions.",
        }
        plan = read_plan(project.plan)
        with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
            ours.run(oracle=lambda question: float(int(question.id[-1], 16)))
            known = ours.status().quality
        found = said(page)["measure"]
        assert found["value"] == pytest.approx(known.estimates["rmse"])
        assert f"from {known.answers} test answers" in found["said"]
        assert known.answers >= 10


def test_without_test_questions_the_panel_says_that_nothing_measures_numbers(tmp_path):
    page = Page(rows_project(tmp_path / "p", NUMBERS))
    with page.client:
        assert said(page)["measure"]["said"] == "The rmse is not known: no questions test it."


def test_classes_have_an_accuracy_and_no_other_measure(page):
    assert said(page)["measure"] is None


def test_of_numbers_it_says_that_two_different_ones_are_waited_for(tmp_path):
    page = Page(rows_project(tmp_path / "p", NUMBERS))
    with page.client:
        one, same, other = page.questions(n=3)
        page.answer(one, 2)
        page.answer(same, 2)
        assert said(page)["next"] == "Go on: the model begins to learn with two different numbers."
        page.answer(other, 3)
        assert said(page)["next"].startswith("Go on: the model chooses")

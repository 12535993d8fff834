"""Certified labels through the server: the audit of the loop, checks as answers, its words to the page."""

import json

import pytest
from small_page import Page, truth

from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.store.facts import Answer, Attempt, Question
from askwise.web.requests import REQUESTS, Work


@pytest.fixture
def trained(project):
    """A page whose trainer works in this process: what it is asked for is computed and told as JSON."""
    text = project.plan.read_text().replace("epochs = 5", "epochs = 60")
    project.plan.write_text(text)
    plan = read_plan(project.plan)
    known = material(plan)
    with learner(plan, known, store=project.store, folder=project.folder) as ours:
        page = Page(project)
        page.work = Work(ours, ours.live(), project, plan, known.pool)
        page.live.request = lambda name, /, **values: json.loads(
            json.dumps(REQUESTS[name](page.work, values))
        )
        with page.client:
            yield page


def label(page, count):
    """Answer so many questions truthfully; the model follows."""
    while count:
        for one in page.questions()[:count]:
            page.answer(one, truth(one["name"].rsplit("/", 1)[-1]), key=f"label-{one['item']}")
            count -= 1
        page.work.live.step()


def certify(page, **claim):
    reply = page.post("/api/certify", claim)
    assert reply.status_code == 200, reply.text
    return reply.json()


def checked(page, found, *, wrong=()):
    """Answer what an attempt asks."""
    for one in found["asked"]:
        right = truth(one["name"].rsplit("/", 1)[-1])
        said = {"dark": "light", "light": "dark"}[right] if one["item"] in wrong else right
        reply = page.answer(
            one, said, key=f"check-{one['question']}", view="check", assisted=bool(one["guess"])
        )
        assert reply.json()["refused"] == []


def test_checks_are_asked_partly_without_the_guess_and_what_is_promised_is_told(trained):
    page = trained
    label(page, 12)
    claim = {"error": 0.5, "checks": 40}
    found, asked = certify(page, **claim), []
    labels = dict(page.desk.ledger.refresh().labels)
    while found["outcome"] is None:
        assert found["asked"]
        asked += found["asked"]
        checked(page, found)
        found = certify(page, **claim)
    assert {one["guess"] is None for one in asked} == {True, False}
    assert page.desk.ledger.refresh().labels == labels, "checks are not learned from"
    outcome = found["outcome"]
    assert outcome["certified"], outcome
    assert outcome["promise"].startswith(f"at most 50 % of these {outcome['labels']} labels differ")
    assert (page.project.folder / outcome["output"]).read_text().count("\n") == outcome["labels"] + 1
    stored = page.get("/api/certificate").json()
    assert stored["last"] == outcome | {"output": None}
    assert stored["claim"] is None
    label(page, 1)
    assert page.get("/api/certificate").json()["last"]["void"] == "the model was trained again since"


def test_a_disagreement_is_asked_again_without_the_guess_and_the_attempt_goes_on_after_a_reload(trained):
    page = trained
    label(page, 12)
    claim = {"error": 0.5, "checks": 40, "confidence": 0.9}
    found = certify(page, **claim)
    first = found["asked"][0]
    checked(page, found, wrong={first["item"]})
    assert page.get("/api/certificate").json()["claim"] == claim
    again = certify(page, **claim)
    assert again["attempt"] == found["attempt"]
    if again["outcome"] is None:
        [twice] = [one for one in again["asked"] if one["item"] == first["item"]]
        assert twice["guess"] is None
        assert twice["question"] != first["question"]
    assert len(page.desk.store.facts(Attempt)) == 1
    kinds = {one.question: one.kind for one in page.desk.store.facts(Question)}
    assert {kinds[one.question] for one in page.desk.store.facts(Answer) if one.view == "check"} == {"check"}


def test_what_cannot_be_certified_is_refused_in_words(trained):
    page = trained
    reply = page.post("/api/certify", {"error": 0.02})
    assert (reply.status_code, "no model yet" in reply.json()["error"]) == (400, True)
    label(page, 12)
    outcome = certify(page, error=0.001, checks=3)["outcome"]
    assert not outcome["certified"]
    assert outcome["reason"]
    assert page.post("/api/certify", {"error": 0}).status_code == 422
    assert page.get("/api/certificate").json()["last"] is None


def test_suspects_neighbours_and_the_map_are_computed_for_the_page(trained):
    page = trained
    label(page, 16)
    page.desk.ledger.refresh()
    known = sorted(page.desk.ledger.labels)
    assert page.get("/api/check", params={"kind": "suspects"}).status_code == 200
    item = page.questions()[0]["item"]
    near = page.get(f"/api/similar/{item}", params={"n": 5}).json()
    assert len(near["items"]) == 5
    assert near["looked_at"] == 39
    guessed = page.get("/api/guessed", params={"class": "dark", "n": 40}).json()["items"]
    assert guessed
    assert all(one["label"] is None for one in guessed)
    points = page.get("/api/map").json()["points"]
    assert len(points) == 40
    assert sum(one["label"] is not None for one in points) == len(known)
    all_of_it = [[-1, -1], [2, -1], [2, 2], [-1, 2]]
    assert page.post("/api/lasso", {"corners": all_of_it, "n": 3}).json()["of"] == 40


def test_undo_after_a_reload_takes_a_check_back_and_a_correction_answers_it(trained):
    page = trained
    label(page, 12)
    claim = {"error": 0.5, "checks": 40}
    found = certify(page, **claim)
    checked(page, found)
    one, other = found["asked"][:2]
    for item, verdict, value in ((one, "retract", None), (other, "unclear", None)):
        # the page does not know the question any more
        reply = page.answer({**item, "question": None}, value, key=f"later-{item['item']}", verdict=verdict)
        assert reply.json()["refused"] == []
    questions = {fact.question: fact for fact in page.desk.store.facts(Question)}
    last = page.desk.store.facts(Answer)[-2:]
    assert [questions[fact.question].kind for fact in last] == ["check", "check"]
    again = certify(page, **claim)
    assert again["attempt"] == found["attempt"], "no new attempt is paid for"
    assert one["item"] in {item["item"] for item in again["asked"]} or again["outcome"]


def test_a_checked_item_is_labelled_from_the_history_when_nothing_is_audited(trained):
    page = trained
    label(page, 12)
    found = certify(page, error=0.001, checks=3)
    assert found["outcome"] is not None
    item = page.questions()[0]
    page.answer({**item, "question": None}, "dark", key="from-history")
    assert page.desk.store.facts(Answer)[-1].label is not None

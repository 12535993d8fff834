"""Check lists what is worth a second look, by the facts, and what was kept does not come back."""

import pytest
from small_page import Page, rows_project

from askwise.errors import BusyError, InputError
from askwise.store import open_store
from askwise.store.facts import Act, Answer, ClassEdit
from askwise.web.desk import opaque

BEN = {"authorization": "Bearer token-of-ben-is-long"}


@pytest.fixture
def two(project):
    page = Page(project, people={"a-token-that-only-ann-has": "ann", "token-of-ben-is-long": "ben"})
    with page.client:
        yield page


def looked(page, kind, **options):
    reply = page.get("/api/check", params={"kind": kind}, **options)
    assert reply.status_code == 200, reply.text
    return reply.json()


def say(page, item, verdict, value=None, *, key, view="check", headers=None):
    body = [{"key": key, "item": item, "verdict": verdict, "value": value, "view": view}]
    reply = page.client.post("/api/answers", json=body, headers=headers)
    assert reply.json()["refused"] == [], reply.text


def names(found):
    return [one["item"] for one in found["items"]]


def told(page, answers):
    store = open_store(page.project.store, access="answer")
    try:
        store.answer(answers)
    finally:
        store.close()


def test_skipped_and_unclear_items_come_once_more_and_no_more_when_they_are_kept(page):
    one, other = page.questions()[:2]
    page.answer(one, verdict="skip", key="first-skip")
    page.answer(other, verdict="unclear", key="first-unclear")
    found = looked(page, "skipped")
    assert names(found) == [one["item"]]
    assert found["counts"] == {
        "suspects": None,
        "disagreements": 0,
        "swept": 0,
        "edited": 0,
        "skipped": 1,
        "unclear": 1,
    }
    assert found["items"][0]["said"] == [
        {"annotator": "ann", "yours": True, "verdict": "skip", "value": None, "assisted": False}
    ]
    say(page, one["item"], "skip", key="kept-skip")
    say(page, other["item"], "label", "dark", key="now-known")
    assert names(looked(page, "skipped")) == names(looked(page, "unclear")) == []
    assert page.desk.ledger.refresh().labels[page.desk.find(other["item"])] == 0
    say(page, one["item"], "skip", key="skipped-anew", view="history")
    assert names(looked(page, "skipped")) == [one["item"]], "what was said after the look counts again"


def test_people_who_differ_are_shown_side_by_side_until_somebody_decides(two):
    one, other = two.questions()[:2]
    for item in (one, other):
        two.answer(item, "dark", key=f"ann-{item['item']}")
    say(two, one["item"], "label", "light", key="ben-differs", view="ask", headers=BEN)
    say(two, other["item"], "label", "dark", key="ben-agrees", view="ask", headers=BEN)
    found = looked(two, "disagreements")
    assert names(found) == [one["item"]]
    assert [(s["annotator"], s["yours"], s["value"]) for s in found["items"][0]["said"]] == [
        ("ann", True, "dark"),
        ("ben", False, "light"),
    ]
    assert not found["resolves"], "the latest answer holds"
    say(two, one["item"], "label", "light", key="ann-decides")
    assert names(looked(two, "disagreements")) == []
    assert two.get("/api/agreement").json()["waiting"] == 0, "the list of the view People is the same"


@pytest.fixture
def majority(tmp_path):
    """Ann owns the page and says a, ben says b; most answers decide."""
    project = rows_project(tmp_path / "p", 'classes = ["a", "b"]\npolicy = "majority"')
    page = Page(project, people={"a-token-that-only-ann-has": "ann", "token-of-ben-is-long": "ben"})
    with page.client:
        page.one = page.questions()[0]
        page.answer(page.one, "a", key="ann-says-a")
        say(page, page.one["item"], "label", "b", key="ben-says-b", view="ask", headers=BEN)
        yield page


def settle(page, verdict, value=None, *, key="last-word"):
    body = {"key": key, "item": page.one["item"], "verdict": verdict, "value": value}
    reply = page.post("/api/resolutions", body)
    assert reply.status_code == 200, reply.text


def test_where_most_answers_decide_the_owner_settles_a_disagreement_by_a_last_word(majority):
    page, name = majority, majority.desk.find(majority.one["item"])
    found = looked(page, "disagreements")
    assert (names(found), found["resolves"]) == ([page.one["item"]], True)
    assert found["items"][0]["holds"] is None, "a tie"
    assert not looked(page, "skipped", headers=BEN)["resolves"], "ben's word is an answer like any other"
    say(page, page.one["item"], "label", "a", key="an-answer-more")
    assert names(looked(page, "disagreements")) == [page.one["item"]], "the control: a vote settles nothing"
    settle(page, "label", "b")
    assert names(looked(page, "disagreements")) == []
    assert page.get("/api/agreement").json()["waiting"] == 0
    assert page.desk.ledger.refresh().labels == {name: 1}
    settle(page, "retract", key="taken-back")
    assert names(looked(page, "disagreements")) == [page.one["item"]]
    assert page.desk.ledger.refresh().labels == {}
    acts = [one.act for one in page.desk.store.facts(Act)]
    assert acts == ["resolve", "take back the last word"]


def test_where_most_answers_decide_a_suspect_with_a_last_word_does_not_come_back(majority):
    page = majority
    say(page, page.one["item"], "label", "b", key="now-both-say-b", view="history")
    name = page.desk.find(page.one["item"])
    told(page, [Answer(id=f"{n}", key="k", verdict="label", label=0, annotator="ann") for n in range(12)])
    page.live.request = lambda *_, **__: [{"id": name, "likelier": "a", "p": 0.1, "other": 0.9}]
    found = looked(page, "suspects")
    assert found["items"][0]["holds"] == {"verdict": "label", "value": "b"}
    settle(page, "label", "b")
    assert names(looked(page, "suspects")) == []


def test_who_does_not_own_the_page_sees_only_what_they_have_said_themselves(project):
    class Owned(dict):
        owner = "ann"

    page = Page(project, people=Owned({"a-token-that-only-ann-has": "ann", "token-of-ben-is-long": "ben"}))
    with page.client:
        one, other = page.questions()[:2]
        for item in (one, other):
            page.answer(item, verdict="skip", key=f"ann-{item['item']}")
        say(page, one["item"], "skip", key="ben-skips-it", view="ask", headers=BEN)
        assert len(looked(page, "skipped")["items"]) == 2
        found = looked(page, "skipped", headers=BEN)
        assert names(found) == [one["item"]]
        assert [said["annotator"] for said in found["items"][0]["said"]] == ["ben"]
        assert found["counts"]["skipped"] == 1
        page.answer(other, "dark", key="ann-labels-it")
        say(page, one["item"], "label", "dark", key="ben-labels-it", view="ask", headers=BEN)
        seen = page.get("/api/search", params={"text": "p0", "n": 200}, headers=BEN).json()["items"]
        assert {i["item"] for i in seen if i["label"] is not None} == {one["item"]}


def test_a_skip_is_no_disagreement(two):
    one = two.questions()[0]
    two.answer(one, "dark", key="ann-label-one")
    say(two, one["item"], "skip", key="ben-skips-it", view="ask", headers=BEN)
    assert names(looked(two, "disagreements")) == []


def test_the_items_of_a_class_that_is_retired_are_listed_with_what_was_said(page):
    one, other = page.questions()[:2]
    page.answer(one, "dark", key="dark-one")
    page.answer(other, "light", key="light-one")
    page.desk.store.append([ClassEdit(edit="add", number=2, name="night")])
    page.desk.store.append([ClassEdit(edit="retire", number=0)])
    found = looked(page, "edited")
    assert names(found) == [one["item"]]
    assert found["items"][0]["said"][0]["value"] == "dark"
    say(page, one["item"], "label", "night", key="another-class")
    assert names(looked(page, "edited")) == []


def test_suspects_come_from_the_trainer_and_a_changed_or_kept_label_is_none(page):
    ids = page.pool_ids()
    told(page, [Answer(id=name, key="k", verdict="label", label=0, annotator="ann") for name in ids[:12]])
    asked = []

    def trainer(name, /, **values):
        asked.append((name, values))
        return [{"id": one, "likelier": "light", "p": 0.1, "other": 0.9} for one in ids[:3]]

    page.live.request = trainer
    found = looked(page, "suspects")
    assert asked == [("suspects", {"count": 200})]
    assert names(found) == [opaque(name) for name in ids[:3]]
    assert found["items"][0]["likelier"] == {"name": "light", "p": 0.9, "given_p": 0.1}
    say(page, opaque(ids[0]), "label", "dark", key="kept-as-it-is")
    say(page, opaque(ids[1]), "label", "light", key="changed-it")
    assert names(looked(page, "suspects")) == [opaque(ids[2])]
    assert len(asked) == 1, "the models are not trained anew for every look"
    assert found["counts"]["suspects"] == 3


def test_without_a_trainer_suspects_are_asked_for_later(page):
    ids = page.pool_ids()
    told(page, [Answer(id=name, key="k", verdict="label", label=0, annotator="ann") for name in ids[:12]])
    reply = page.get("/api/check", params={"kind": "suspects"})
    assert (reply.status_code, reply.json()["error"]) == (
        409,
        "the model is not at work just now; try again in a moment",
    )


def test_an_item_kept_for_testing_is_listed_only_if_it_was_skipped_and_its_new_answer_is_a_test_answer(
    tmp_path,
):
    project = rows_project(tmp_path / "p", 'classes = ["a", "b"]\ntesting = 0.5\nregion = 0.5')
    page = Page(project)
    with page.client:
        questions = page.questions()
        for number, one in enumerate(questions):
            page.answer(one, verdict="skip", key=f"skip-it-{number}")
        tests = set(page.desk.testing.refresh(page.desk.store.ids(), page.desk.store.count()).trials)
        found = names(looked(page, "skipped"))
        assert set(found) == {one["item"] for one in questions}
        for number, one in enumerate(found):
            say(page, one, "label", "a", key=f"label-it-{number}")
        assert not tests & set(page.desk.ledger.refresh().labels)


def test_a_request_is_sent_once_and_its_late_answer_is_there_when_it_is_asked_again(page):
    live, sent = page.live, []

    class Alive:
        pid, stdin = 7, None

        def poll(self):
            return None

    live.trainer._process, live._ready = Alive(), 7
    live.trainer.send = sent.append
    for _ in range(2):
        with pytest.raises(BusyError, match="at work; try again"):
            live.request("map", patience=0.01, count=3)
    assert [one["number"] for one in sent] == [1]
    live.tell("reply", number=1, found=[1, 2])
    assert live.request("map", patience=0.01, count=3) == [1, 2]
    with pytest.raises(BusyError):
        live.request("map", patience=0.01, count=3)
    live.tell("reply", number=2, error="there is no map")
    with pytest.raises(InputError, match="there is no map"):
        live.request("map", patience=0.01, count=3)
    assert len(sent) == 2
    live.trainer._process = None


def test_check_says_that_numbers_are_not_checked_instead_of_that_none_looks_wrong(tmp_path):
    page = Page(rows_project(tmp_path / "p", 'task = "regression"'))
    with page.client:
        found = looked(page, "suspects")
    assert found["unchecked"].startswith("Numbers are not checked")
    assert found["counts"]["suspects"] is None


def test_with_few_labels_check_says_that_nothing_is_checked_yet(page):
    found = looked(page, "suspects")
    assert found["unchecked"].startswith("Nothing is checked yet")
    assert found["counts"]["suspects"] is None

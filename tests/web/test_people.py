"""Several people on one page: links, overlap, what each sees, agreement, the last word, the end of access."""

import json
from itertools import pairwise
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from small_page import HOST, Page, rows_project, truth, write_project

from askwise.project import Project
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.store import open_store
from askwise.store.facts import Act, Annotator, Resolution
from askwise.web.people import People, people_of
from askwise.web.qr import modules, printed
from askwise.web.serve import links, tunnel_line
from askwise.web.team import Following

ANN, BEN = "the-token-that-ann-has", "the-token-that-ben-has"


@pytest.fixture
def page(project):
    page = Page(project, people={ANN: "ann", BEN: "ben"})
    with page.client:
        yield page


def of(token):
    return {"headers": {"authorization": f"Bearer {token}"}}


def get(page, token, path, **options):
    return page.client.get(path, **options, **of(token))


def post(page, token, path, body):
    return page.client.post(path, json=body, **of(token))


def said(token, question, value):
    return {
        "key": f"key-{token[-7:-4]}-{question['question']}-{value if isinstance(value, str) else 'x'}",
        "question": question["question"],
        "item": question["item"],
        "verdict": "label",
        "value": value,
    }


def answer(page, token, question, value, **more):
    return post(page, token, "/api/answers", [said(token, question, value) | more]).json()


def facts(page, kind):
    return page.desk.store.facts(kind)


def overlapping(folder: Path, share: float) -> Project:
    """A project of 100 pictures whose first 80 are asked, with a share of the questions asked twice."""
    project = write_project(folder, pictures=100)
    text = (
        project.plan.read_text().replace("initial = 6", "initial = 80").replace("budget = 60", "budget = 100")
    )
    project.plan.write_text(f"overlap = {share}\n" + text)
    for file in project.folder.glob("store.db*"):
        file.unlink() if file.is_file() else None
    plan = read_plan(project.plan)
    with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
        ours.ask()
    return project


def worked_through(page):
    """Both take turns until nothing is left for either; ben errs every other time that both are asked."""
    left, errs = True, False
    while left:
        left = False
        for token in (ANN, BEN):
            found = get(page, token, "/api/questions", params={"n": 8}).json()["questions"]
            left = left or bool(found)
            values = [truth(one["name"]) for one in found]
            for at, one in enumerate(found):
                if token == BEN and page.desk.plan.wanted(page.desk.find(one["item"])) == 2:
                    errs = not errs
                    values[at] = {"dark": "light", "light": "dark"}[values[at]] if errs else values[at]
            told = [said(token, one, value) for one, value in zip(found, values, strict=True)]
            assert post(page, token, "/api/answers", told).status_code == 200


def test_two_people_with_overlap_double_that_share_alone_and_kappa_is_that_of_scikit_learn(tmp_path):
    page = Page(overlapping(tmp_path, 0.1), people={ANN: "ann", BEN: "ben"})
    with page.client:
        worked_through(page)
        words: dict[str, dict[str, int]] = {}
        for one in page.desk.answers():
            assert one.annotator not in words.setdefault(one.id, {})  # nobody is asked twice
            words[one.id][one.annotator] = one.label
        double = {name for name, told in words.items() if len(told) == 2}
        plan = page.desk.plan
        assert double == {name for name in words if plan.wanted(name) == 2}
        assert len(words) == 80
        assert 1 < len(double) < 20
        found = get(page, ANN, "/api/agreement").json()
        pairs = [(words[name]["ann"], words[name]["ben"]) for name in sorted(double)]
        first, second = zip(*pairs, strict=True)
        [pair] = found["pairs"]
        assert (pair["first"], pair["second"], pair["items"]) == ("ann", "ben", len(double))
        assert pair["cohen"] == pytest.approx(cohen_kappa_score(first, second))
        alpha = krippendorff.alpha(np.array([first, second]), level_of_measurement="nominal")
        assert found["krippendorff"] == pytest.approx(alpha)
        assert found["waiting"] == sum(one != two for one, two in pairs) > 0


def test_control_without_overlap_no_item_is_answered_twice(tmp_path):
    page = Page(overlapping(tmp_path, 0.0), people={ANN: "ann", BEN: "ben"})
    with page.client:
        worked_through(page)
        assert len(page.desk.answers()) == len({one.id for one in page.desk.answers()}) == 80
        assert get(page, ANN, "/api/agreement").json()["items"] == 0


def test_assisted_answers_and_those_of_other_views_are_no_agreement(page):
    first, second, third = get(page, ANN, "/api/questions", params={"n": 3}).json()["questions"]
    for one in (first, second, third):
        answer(page, ANN, one, "dark")
    answer(page, BEN, first, "dark")
    answer(page, BEN, second, "dark", assisted=True)
    answer(page, BEN, third, "dark", view="history")
    assert get(page, ANN, "/api/agreement").json()["items"] == 1


def test_people_do_not_see_what_others_have_said(page):
    one, two = get(page, ANN, "/api/questions", params={"n": 2}).json()["questions"]
    answer(page, ANN, one, "dark")
    answer(page, BEN, two, "light")

    def shown(token, **query):
        return [
            past["annotator"] for past in get(page, token, "/api/history", params=query).json()["answers"]
        ]

    assert shown(BEN) == ["ben"]
    assert shown(BEN, everybody=True) == ["ben"]
    assert shown(ANN) == ["ann"]
    assert shown(ANN, everybody=True) == ["ben", "ann"]  # the control: the owner may


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/people", None),
        ("/api/agreement", None),
        ("/api/people", {"name": "eve"}),
        ("/api/resolutions", {"key": "no-such-item", "item": "0" * 24, "verdict": "unclear"}),
    ],
)
def test_what_concerns_the_others_is_for_the_owner_alone(page, path, body):
    before = page.desk.store.revision
    replies = [
        get(page, token, path) if body is None else post(page, token, path, body) for token in (BEN, ANN)
    ]
    assert replies[0].status_code == 403
    assert replies[0].json() == {"error": "only the owner of the page may do that"}
    assert replies[1].status_code in (200, 404)
    assert page.desk.store.revision == before + (path == "/api/people" and body is not None)


def test_a_person_who_is_removed_is_out_with_the_next_request_and_what_they_held_is_free(page):
    held = get(page, BEN, "/api/questions", params={"n": 2}).json()["questions"]
    answer(page, BEN, held[0], "dark")
    assert [lease.annotator for lease in page.desk.store.leases()] == ["ben"]
    found = post(page, ANN, "/api/people", {"name": "ben", "access": False}).json()
    assert [(one["name"], one["access"], one["answers"]) for one in found["people"]] == [
        ("ann", True, 0),
        ("ben", False, 1),
    ]
    assert get(page, BEN, "/api/project").status_code == 401
    assert page.desk.store.leases() == []
    asked = {one["item"] for one in get(page, ANN, "/api/questions", params={"n": 8}).json()["questions"]}
    assert held[1]["item"] in asked
    assert [(one.by, one.act, one.about) for one in facts(page, Act)] == [("ann", "take access", "ben")]
    assert found["acts"][0]["at"]
    new = post(page, ANN, "/api/people", {"name": "ben"}).json()["people"][1]["link"].partition("#")[2]
    assert get(page, new, "/api/project").json()["annotator"] == "ben"
    assert get(page, BEN, "/api/project").status_code == 401  # the old link stays void


def test_the_stream_of_somebody_who_is_removed_ends(page):
    with page.client.stream("GET", "/api/events", **of(BEN)) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: status"
        page.people.take("ben")
        assert "event: status" not in list(lines)  # it ends, and the client hears the end


def test_access_that_was_taken_on_one_server_ends_on_the_others_of_the_store(page):
    people = People({"ben": BEN, "me": "x" * 43})
    other = Following(page.desk, people)
    other.look()
    assert people.token("ben") == BEN
    post(page, ANN, "/api/people", {"name": "ben", "access": False})
    other.look()
    assert people.token("ben") is None
    assert [(one.annotator, one.active) for one in facts(page, Annotator)] == [("ben", False)]


def test_the_owner_stays_and_a_stranger_is_no_person(page):
    for name, said in (("ann", "is the owner"), ("eve", "nobody called 'eve'"), ("a\nb", "nobody called")):
        reply = post(page, ANN, "/api/people", {"name": name, "access": False})
        assert reply.status_code == 400
        assert said in reply.json()["error"]
    assert post(page, ANN, "/api/people", {"name": "a\nb"}).status_code == 400
    assert facts(page, Act) == []


def test_the_last_word_holds_and_the_queue_is_empty_after_it(page):
    [one] = get(page, ANN, "/api/questions", params={"n": 1}).json()["questions"]
    answer(page, ANN, one, "dark")
    answer(page, BEN, one, "light")
    [waiting] = get(page, ANN, "/api/agreement").json()["disagreements"]
    assert [(word["annotator"], word["value"]) for word in waiting["answers"]] == [
        ("ann", "dark"),
        ("ben", "light"),
    ]
    given = {
        "key": "noon-key", "item": one["item"], "verdict": "label", "value": "dark", "note": "seen at noon",
    }  # fmt: skip
    replies = [post(page, ANN, "/api/resolutions", given).json() for _ in range(2)]
    assert get(page, ANN, "/api/agreement").json()["waiting"] == 0
    [word] = facts(page, Resolution)  # sent twice, stored once
    assert replies == [{"key": "noon-key", "revision": word.revision}] * 2
    assert (word.annotator, len(word.answers), word.note) == ("ann", 2, "seen at noon")
    assert list(page.desk.ledger.refresh().labels.values()) == [0]
    assert post(page, ANN, "/api/resolutions", {**given, "value": "grey"}).status_code == 400


def test_tags_agree_one_by_one_and_numbers_do_not_say(tmp_path):
    kinds = ('task = "multilabel"\ntags = ["red", "blue"]', 'task = "regression"')
    for kind, mine, theirs in zip(kinds, (["red"], 1.0), (["red", "blue"], 2.0), strict=True):
        page = Page(rows_project(tmp_path / kind[8:12], kind), people={ANN: "ann", BEN: "ben"})
        with page.client:
            one, two = get(page, ANN, "/api/questions", params={"n": 2}).json()["questions"]
            for question in (one, two):
                answer(page, ANN, question, mine)
                answer(page, BEN, question, theirs)
            found = get(page, ANN, "/api/agreement").json()
            assert (found["items"], found["waiting"]) == (2, 2)
            # both say red twice, one says blue twice: 1 of 2 alike, chance .5 * .25 + .5 * .75
            assert (found["pairs"][0]["cohen"] if found["pairs"] else None) == (
                pytest.approx(cohen_kappa_score([1, 0, 1, 0], [1, 1, 1, 1]))
                if isinstance(mine, list)
                else None
            )


def test_links_last_and_everybody_but_the_owner_gets_a_code_where_a_phone_can_reach_the_page(project):
    people = people_of(project, ["ann"])
    local = links(project, people, f"http://{HOST}", codes=False)
    assert local == [
        f"{project.name}: http://{HOST}/#{people.token('me')}",
        f"ann: http://{HOST}/#{people.token('ann')}",
    ]
    assert len(links(project, people, "https://box.example", codes=True)) == 3
    assert json.loads((project.folder / "people.json").read_text())["ann"] == people.token("ann")


def test_a_qr_code_has_its_three_finders_and_is_of_the_link():
    rows = modules("https://box.example/#token")
    finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    assert [row[:7] for row in rows[:7]] == finder
    assert [row[-7:] for row in rows[:7]] == finder
    assert [row[:7] for row in rows[-7:]] == finder
    assert rows != modules("https://box.example/#another")
    assert all(len(one) == len(two) for one, two in pairwise(rows))
    assert printed("https://box.example/#token").count("\n") > 10


def test_a_tunnel_is_named_where_one_works_by_ssh_and_not_elsewhere():
    by_ssh = {"SSH_CONNECTION": "10.0.0.9 50000 10.0.0.5 22", "USER": "ann"}
    assert "ssh -L 8765:127.0.0.1:8765 ann@10.0.0.5," in (tunnel_line(by_ssh, 8765) or "")
    assert tunnel_line({}, 8765) is None


def test_the_people_of_a_store_are_read_by_whoever_opens_it(page):
    post(page, ANN, "/api/people", {"name": "eve"})
    store = open_store(page.project.store, access="read")
    assert [(one.annotator, one.active) for one in store.facts(Annotator)] == [("eve", True)]
    store.close()

"""Every route does what the page relies on."""

import io

import pytest
from PIL import Image
from small_page import HEADERS, Page, rows_project, truth

from askwise.store import open_store
from askwise.store.facts import Answer
from askwise.web.desk import opaque

GUESS = {
    "probabilities": [0.25, 0.75],
    "total": 0.5,
    "epistemic": 0.2,
    "aleatoric": 0.3,
}


def stored(page):
    store = open_store(page.project.store, access="read")
    try:
        return store.facts(Answer)
    finally:
        store.close()


def test_the_project_tells_its_classes_with_keys_and_counts_that_sum_up(page):
    found = page.get("/api/project").json()
    assert [(one["name"], one["key"]) for one in found["classes"]] == [("dark", "1"), ("light", "2")]
    assert (found["task"], found["kind"], found["annotator"]) == ("classification", "image", "ann")
    counts = found["counts"]
    assert counts["items"] == 40 == sum(counts.values()) - 40
    assert counts["open"] == 6


def test_questions_are_leased_and_come_again_after_a_reload(page):
    first = page.questions(n=4)
    assert len(first) == 4
    assert page.questions(n=4) == first
    assert len({one["item"] for one in page.questions(n=8)}) == 6


def test_two_people_never_have_the_same_question(project):
    page = Page(project, people={"token-of-ann-is-long": "ann", "token-of-ben-is-long": "ben"})
    with page.client:
        headers = {name: {"authorization": f"Bearer token-of-{name}-is-long"} for name in ("ann", "ben")}
        ann, ben = (
            page.get("/api/questions", params={"n": 3}, headers=headers[name]).json()["questions"]
            for name in ("ann", "ben")
        )
    assert len({one["item"] for one in ann + ben}) == 6


def test_questions_that_are_not_kept_give_way_to_newer_ones_and_the_kept_stay(page, project):
    first = page.questions(n=4)
    shown = first[0]["question"]
    assert page.questions(n=4, keep=shown) == first  # nothing newer has been asked
    fresh = [name for name in page.pool_ids() if opaque(name) not in {one["item"] for one in first}][-2:]
    page.ask(fresh)
    now = page.questions(n=4, keep=shown)
    assert now[0] == first[0]
    assert [one["item"] for one in now[1:3]] == [opaque(name) for name in fresh]


def test_a_test_question_does_not_give_way_to_newer_ones(tmp_path):
    page = Page(rows_project(tmp_path / "p", 'classes = ["a", "b"]\ntesting = 0.3\nregion = 0.5'))
    with page.client:
        kept, *others = page.pool_ids()
        page.ask([kept], kind="test")
        page.ask(others[:3])
        assert {one["item"] for one in page.questions(n=4)} == {opaque(name) for name in [kept, *others[:3]]}
        page.ask(others[3:9])
        now = {one["item"] for one in page.questions(n=4, keep="")}
        assert now == {opaque(name) for name in [kept, *others[3:6]]}


def test_an_answer_is_on_the_disk_when_it_is_acknowledged_and_the_same_key_is_stored_once(page):
    one = page.questions()[0]
    sent = {"view": "ask", "assisted": True, "shown_ms": 1234, "note": "blurred"}
    first = page.answer(one, truth(one["name"]), key="one-press", **sent)
    assert first.status_code == 200
    [answer] = stored(page)
    assert (answer.verdict, answer.annotator, answer.assisted, answer.seconds, answer.note) == (
        "label",
        "ann",
        True,
        1.234,
        "blurred",
    )
    assert first.json() == {"answers": [{"key": "one-press", "revision": answer.revision}], "refused": []}
    assert page.answer(one, truth(one["name"]), key="one-press", **sent).json() == first.json()
    assert len(stored(page)) == 1


def test_skip_unclear_and_undo_move_the_item_and_the_counts_still_sum_up(page):
    one, two, three = page.questions()[:3]
    page.answer(one, verdict="skip")
    page.answer(two, verdict="unclear")
    page.answer(three, truth(three["name"]))
    counts = page.get("/api/project").json()["counts"]
    assert (counts["skipped"], counts["unclear"], counts["labelled"], counts["open"]) == (1, 1, 1, 3)
    page.answer(three, verdict="retract")
    counts = page.get("/api/project").json()["counts"]
    assert (counts["labelled"], sum(counts.values())) == (0, 80)
    page.answer(three, "light", key="second-try")
    assert page.get("/api/project").json()["counts"]["labelled"] == 1
    assert [answer.verdict for answer in stored(page)] == ["skip", "cannot_tell", "label", "retract", "label"]


def test_a_skipped_question_comes_again_when_no_other_is_left(page):
    questions = page.questions(n=6)
    for one in questions[1:]:
        page.answer(one, truth(one["name"]))
    page.answer(questions[0], verdict="skip")
    assert [one["item"] for one in page.questions()] == [questions[0]["item"]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": "drak"}, "did you mean 'dark'"),
        ({"value": ["dark"]}, "name of a class"),
        ({"value": 3.5}, "name of a class"),
        ({"value": None}, "name of a class"),
        ({"verdict": "skip"}, "has no value"),
        ({"item": "0" * 24}, "no such item"),
        ({"question": "q999"}, "not asked by that question"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_alone_and_the_others_are_kept(page, change, why):
    one, two = page.questions()[:2]
    good = {"key": "the-good", "question": two["question"], "item": two["item"], "verdict": "skip"}
    bad = {"key": "the-bad-", "question": one["question"], "item": one["item"], "verdict": "label"}
    found = page.post("/api/answers", [{**bad, "value": "dark", **change}, good])
    assert found.status_code == 200
    assert [one["key"] for one in found.json()["answers"]] == ["the-good"]
    [refused] = found.json()["refused"]
    assert refused["key"] == "the-bad-"
    assert why in refused["error"]
    assert len(stored(page)) == 1


@pytest.mark.parametrize("body", [{}, "x", [{}], [1], [[]], [{"key": "k", "verdict": "label"}]])
def test_what_is_no_list_of_answers_is_refused_in_one_sentence(page, body):
    found = page.post("/api/answers", body)
    assert found.status_code == 422
    assert found.json()["error"]
    assert not stored(page)


def test_at_most_five_hundred_answers_come_in_one_call(page):
    one = page.questions()[0]
    many = [{"key": f"press-{number:04d}", "item": one["item"], "verdict": "skip"} for number in range(501)]
    assert page.post("/api/answers", many).status_code == 422
    found = page.post("/api/answers", many[:500])
    assert len(found.json()["answers"]) == 500


def test_a_picture_is_encoded_anew_within_the_wanted_size(page):
    one = page.questions()[0]
    found = page.get(f"/api/items/{one['item']}/image", params={"w": 12})
    assert found.headers["content-type"] == "image/webp"
    picture = Image.open(io.BytesIO(found.content))
    assert max(picture.size) <= 32
    assert picture.size[0] * 2 == picture.size[1] * 3
    assert page.get(f"/api/items/{'0' * 24}/image").status_code == 404
    assert page.get(f"/api/items/{one['item']}/text").status_code == 400


def test_why_is_what_the_trainer_said_and_409_before_that(page):
    one, two = page.questions()[:2]
    asked = page.get(f"/api/items/{one['item']}/why")
    assert (asked.status_code, asked.json()) == (409, {"error": "no model yet"})
    page.answer(two, truth(two["name"]))
    names = {opaque(name): name for name in page.pool_ids()}
    page.desk.counts()
    page.live.tell(
        "guesses",
        guesses=[{"id": names[one["item"]], "neighbours": [names[two["item"]]], **GUESS}],
    )
    found = page.get(f"/api/items/{one['item']}/why").json()
    assert found["guess"] == "light"
    assert found["probabilities"] == [{"name": "light", "p": 0.75}, {"name": "dark", "p": 0.25}]
    assert found["uncertainty"] == {"total": 0.5, "epistemic": 0.2, "aleatoric": 0.3}
    assert found["neighbours"] == [{"item": two["item"], "name": two["name"], "label": truth(two["name"])}]


def test_unsure_items_come_with_the_most_uncertain_first(page):
    assert page.get("/api/unsure").json() == {"items": []}
    first, second = page.pool_ids()[:2]
    guesses = [
        {"id": first, "neighbours": [], **GUESS},
        {"id": second, "neighbours": [], **GUESS, "total": 0.6},
    ]
    page.live.tell("guesses", guesses=guesses)
    found = page.get("/api/unsure").json()["items"]
    assert [(one["item"], one["guess"]) for one in found] == [
        (opaque(second), "light"),
        (opaque(first), "light"),
    ]
    assert len(page.get("/api/unsure", params={"n": 1}).json()["items"]) == 1


def test_the_history_is_paged_searched_and_filtered(page):
    for one in page.questions(n=6):
        page.answer(one, truth(one["name"]), note=f"note of {one['name']}")
    whole = page.get("/api/history").json()
    assert (len(whole["answers"]), whole["more"]) == (6, False)
    assert all(one["at"] and one["value"] == truth(one["name"]) for one in whole["answers"])
    revisions = [one["revision"] for one in whole["answers"]]
    assert revisions == sorted(revisions, reverse=True)
    first = page.get("/api/history", params={"n": 4}).json()
    assert (first["answers"], first["more"]) == (whole["answers"][:4], True)
    rest = page.get("/api/history", params={"n": 4, "before": first["answers"][-1]["revision"]}).json()
    assert (rest["answers"], rest["more"]) == (whole["answers"][4:], False)
    name = whole["answers"][2]["name"]
    assert [one["name"] for one in page.get("/api/history", params={"text": name}).json()["answers"]] == [
        name
    ]
    dark = page.get("/api/history", params={"class": "dark"}).json()["answers"]
    assert dark == [one for one in whole["answers"] if one["value"] == "dark"]


def test_a_page_of_history_never_cuts_through_answers_stored_together(page):
    questions = page.questions(n=6)
    page.post(
        "/api/answers",
        [
            {"key": f"offline-{one['item']}", "item": one["item"], "verdict": "label", "value": "dark"}
            for one in questions
        ],
    )
    found = page.get("/api/history", params={"n": 2}).json()
    assert (len(found["answers"]), found["more"]) == (6, False)


def test_a_class_is_added_and_renamed_in_the_facts_and_in_the_plan(page):
    before = page.get("/api/project").json()["revision"]
    added = page.post("/api/classes", {"edit": "add", "name": 'grey "]', "revision": before})
    assert [one["name"] for one in added.json()["classes"]] == ["dark", "light", 'grey "]']
    stale = page.post("/api/classes", {"edit": "add", "name": "x", "revision": before})
    assert stale.status_code == 409
    again = {"edit": "rename", "name": "dark", "to": "night", "revision": added.json()["revision"]}
    assert page.post("/api/classes", again).status_code == 200
    assert 'classes = ["night", "light", "grey \\"]"]' in page.project.plan.read_text()
    one = page.questions()[0]
    assert page.answer(one, "night").json()["answers"]


@pytest.mark.parametrize(
    "given",
    [
        {"edit": "add", "name": "dark"},
        {"edit": "add", "name": "  "},
        {"edit": "add", "name": "a\nb"},
        {"edit": "rename", "name": "nobody", "to": "x"},
        {"edit": "rename", "name": "dark"},
        {"edit": "rename", "name": "dark", "to": "light"},
        {"edit": "merge", "name": "dark", "to": "dark"},
        {"edit": "merge", "name": "dark", "to": "nobody"},
        {"edit": "retire", "name": "nobody"},
        {"edit": "split", "name": "dark", "to": ["night"]},
        {"edit": "parent", "name": "dark", "to": "light"},
    ],
)
def test_a_change_of_classes_that_makes_no_sense_changes_nothing(page, given):
    text, revision = page.project.plan.read_text(), page.get("/api/project").json()["revision"]
    assert page.post("/api/classes", {**given, "revision": revision}).status_code == 400
    assert page.project.plan.read_text() == text
    assert page.get("/api/project").json()["revision"] == revision


def test_a_class_that_is_retired_or_merged_has_no_key_and_its_labels_follow(page):
    for one in page.questions(n=6):
        page.answer(one, truth(one["name"]))
    counts = {one["name"]: one["count"] for one in page.get("/api/status").json()["balance"]}
    revision = page.get("/api/project").json()["revision"]
    merged = page.post(
        "/api/classes", {"edit": "merge", "name": "dark", "to": "light", "revision": revision}
    ).json()
    assert [(one["name"], one["key"], one["into"], one["retired"]) for one in merged["classes"]] == [
        ("dark", None, ["light"], True),
        ("light", "1", [], False),
    ]
    after = {one["name"]: one["count"] for one in page.get("/api/status").json()["balance"]}
    assert after == {"light": sum(counts.values())} == {"light": 6}
    again = {"edit": "retire", "name": "light", "revision": merged["revision"]}
    assert page.post("/api/classes", again).status_code == 200
    assert page.get("/api/project").json()["counts"]["labelled"] == 0


def test_a_split_on_the_page_asks_its_items_again_and_a_heading_moves_no_label(page):
    for one in page.questions(n=6):
        page.answer(one, truth(one["name"]))
    counts = {one["name"]: one["count"] for one in page.get("/api/status").json()["balance"]}
    revision = page.get("/api/project").json()["revision"]
    headed = {"edit": "parent", "name": "dark", "to": "shades", "revision": revision}
    revision = page.post("/api/classes", headed).json()["revision"]
    assert page.get("/api/project").json()["counts"]["labelled"] == 6
    split = {"edit": "split", "name": "dark", "to": ["dusk", "night"], "revision": revision}
    found = page.post("/api/classes", split).json()["classes"]
    assert [(one["name"], one["parent"], one["into"]) for one in found] == [
        ("dark", "shades", ["dusk", "night"]),
        ("light", None, []),
        ("dusk", "shades", []),
        ("night", "shades", []),
    ]
    assert page.get("/api/project").json()["counts"]["labelled"] == counts["light"]
    assert len(page.desk.ledger.refresh().split) == counts["dark"]


def test_tags_and_numbers_are_answered_each_in_its_own_way(tmp_path):
    for kind, good, bad in (
        ('task = "multilabel"\ntags = ["red", "blue"]', ["blue", "red"], "red"),
        ('task = "regression"', 2.5, "red"),
    ):
        project = rows_project(tmp_path / kind[8:12], kind)
        page = Page(project)
        with page.client:
            assert page.get("/api/project").json()["kind"] == "row"
            one, two = page.questions(n=2)
            assert one["row"][0][0] == "0"
            assert page.answer(one, bad, key="the-bad-").json()["refused"]
            assert page.answer(two, good, key="the-good").json()["answers"]
            [past] = page.get("/api/history").json()["answers"]
            assert past["value"] == (sorted(good, reverse=True) if isinstance(good, list) else good)
            assert page.get("/api/status").json()["labels"] == 1
            edit = {"edit": "add", "name": "green", "revision": 10**6}
            added = page.post("/api/classes", edit)
            assert added.status_code == (200 if isinstance(good, list) else 400)


def test_the_events_begin_with_the_status(page):
    with page.client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: status"
        assert '"trainer":"restarting"' in next(lines)


def test_the_openapi_names_every_route_and_each_of_them_needs_the_token(page):
    found = page.get("/openapi.json").json()["paths"]
    assert {"/api/answers", "/api/classes", "/api/people", "/api/check", "/api/questions"} < set(found)
    stranger = {**HEADERS, "authorization": "Bearer x"}
    for path, methods in {**found, "/openapi.json": {"get": {}}}.items():
        for method in methods:
            assert page.client.request(method.upper(), path, headers=stranger).status_code == 401, path


def test_the_page_itself_needs_no_token_and_holds_no_data(page):
    found = page.get("/", headers={"authorization": ""})
    assert found.status_code == 200
    assert "p000" not in found.text

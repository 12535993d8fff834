"""Find lists items by likeness, class, words and place on the map, and leaves the items for testing alone."""

import pytest
from small_page import Page, rows_project

from askwise.web.desk import opaque


@pytest.fixture
def asked(page):
    """What the trainer is asked for, and what it says."""
    said = {}

    def trainer(name, /, **values):
        said["wanted"] = (name, values)
        return said["found"]

    page.live.request = trainer
    return said


def test_more_like_this_and_of_a_class_are_the_trainers_with_labels_and_names(page, asked):
    ids = page.pool_ids()
    one = page.questions()[0]
    page.answer(one, "dark", key="a-first-label")
    known = page.desk.find(one["item"])
    asked["found"] = {"ids": [known, ids[9]], "scores": [0.98765, 0.5], "looked_at": 40}
    found = page.get(f"/api/similar/{opaque(ids[3])}", params={"n": 2}).json()
    assert asked["wanted"] == ("alike", {"items": [ids[3]], "count": 2})
    assert [(i["item"], i["label"], i["fits"]) for i in found["items"]] == [
        (opaque(known), "dark", 0.9877),
        (opaque(ids[9]), None, 0.5),
    ]
    assert found["looked_at"] == 40
    page.get("/api/guessed", params={"class": "light", "order": "unsure", "n": 5})
    assert asked["wanted"] == ("of_class", {"name": "light", "unsure": True, "count": 5})
    assert page.get("/api/similar/nobody").status_code == 404


def test_words_are_found_in_names_in_capitals_or_not(page):
    found = page.get("/api/search", params={"text": "P01 png"}).json()
    assert [i["name"].rsplit("/", 1)[-1] for i in found["items"]] == [f"p01{n}.png" for n in range(10)]
    assert found["looked_at"] == 40
    assert len(page.get("/api/search", params={"text": "png", "n": 3}).json()["items"]) == 3
    assert page.get("/api/search", params={"text": "nowhere"}).json()["items"] == []
    assert page.get("/api/search", params={"text": "   "}).status_code == 400


def test_a_search_ends_in_time_and_says_how_far_it_came(page, monkeypatch):
    monkeypatch.setattr("askwise.web.find._SECONDS", -1.0)
    monkeypatch.setattr("askwise.web.find._PART", 7)
    assert page.get("/api/search", params={"text": "nowhere"}).json()["looked_at"] == 7


def test_the_map_has_colours_and_a_lasso_counts_all_that_it_holds(page, asked):
    ids = page.pool_ids()
    one = page.questions()[0]
    page.answer(one, "light", key="a-first-label")
    known = page.desk.find(one["item"])
    asked["found"] = {"ids": [known, ids[9]], "places": [[0.1, 0.2], [1.0, 0.0]], "of": 40}
    found = page.get("/api/map").json()
    assert found == {
        "points": [
            {"item": opaque(known), "x": 0.1, "y": 0.2, "label": "light"},
            {"item": opaque(ids[9]), "x": 1.0, "y": 0.0, "label": None},
        ],
        "of": 40,
    }
    asked["found"] = {"ids": ids[:2], "of": 31}
    corners = [[0, 0], [1, 0], [1, 1]]
    assert page.post("/api/lasso", {"corners": corners, "n": 2}).json()["of"] == 31
    assert page.post("/api/lasso", {"corners": corners[:2]}).status_code == 422


def test_without_a_trainer_it_is_asked_for_later(page):
    for path in ("/api/map", "/api/guessed?class=dark", f"/api/similar/{opaque(page.pool_ids()[0])}"):
        assert page.get(path).status_code == 409


def test_words_leave_the_items_for_testing_alone(tmp_path):
    page = Page(rows_project(tmp_path / "p", 'classes = ["a", "b"]\ntesting = 0.5\nregion = 0.5'))
    with page.client:
        found = page.get("/api/search", params={"text": "0", "n": 200}).json()["items"]
        kept = page.desk.testing.refresh(page.desk.store.ids(), page.desk.store.count())
        region = {opaque(name) for name in page.pool_ids() if name in kept}
        assert found
        assert region
        assert not region & {one["item"] for one in found}

"""A project whose classes are named on the page, as a person meets them."""

import tomllib

import pytest
from small_page import Page, write_project

from askwise.runs.build import learner
from askwise.runs.material import material, read_plan


@pytest.fixture
def page(tmp_path):
    page = Page(write_project(tmp_path, classes=[]))
    with page.client:
        yield page


def add(page, name):
    revision = page.get("/api/project").json()["revision"]
    return page.post("/api/classes", {"edit": "add", "name": name, "revision": revision})


def stepped(project):
    """What the trainer does when it is begun anew."""
    plan = read_plan(project.plan)
    with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
        return ours.live().step()


def test_questions_come_before_there_is_a_class_and_the_page_says_what_to_do(page):
    assert page.get("/api/status").json()["next"] == "Name the first class: press + and type it."
    first = page.questions()[0]
    refused = page.answer(first, "dark").json()["refused"]
    assert "no class" in refused[0]["error"]


def test_the_model_learns_from_the_second_class_on(page):
    project, asked = page.project, page.questions()
    assert add(page, "dark").status_code == 200
    assert page.answer(asked[0], "dark").json()["refused"] == []
    assert tomllib.loads(project.plan.read_text())["classes"] == ["dark"]
    assert "begins to learn with a second class" in page.get("/api/status").json()["next"]
    turn = stepped(project)
    assert turn is None or turn.fitted is None  # of one class alone nothing can be learned
    assert add(page, "light").status_code == 200
    assert page.answer(asked[1], "light").json()["refused"] == []
    turn = stepped(project)
    assert turn is not None
    assert turn.fitted is not None
    assert turn.fitted.labels == 2
    assert add(page, "grey").status_code == 200
    assert page.answer(asked[2], "grey").json()["refused"] == []
    assert stepped(project).fitted.labels == 3

"""A project without classes in a real browser: a person names each as they meet it, and the model learns."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from served_page import Served
from small_page import truth, write_project
from test_first_classes import stepped
from test_page_keys import settled

from askwise.store.facts import Answer


@pytest.fixture
def served(tmp_path: Path) -> Any:
    with Served(write_project(tmp_path, classes=[])) as found:
        yield found


def shown(page: Any) -> tuple[str, str]:
    """The name of the item on the screen, and what it is."""
    page.wait_for_selector("#stage img")
    name = page.locator("#caption").text_content()
    return name, truth(Path(name).name)


def gone(page: Any, name: str) -> None:
    page.wait_for_function("name => document.getElementById('caption').textContent !== name", arg=name)


def named(page: Any, label: str) -> None:
    """A new class for the item on the screen, which is answered with it."""
    before, _ = shown(page)
    page.keyboard.press("+")
    page.wait_for_selector("dialog >> text=Add it and answer with it")
    page.keyboard.type(label)
    page.keyboard.press("Enter")
    gone(page, before)


def test_classes_are_made_on_the_page_as_one_meets_them(served: Any, visit: Any) -> None:
    page = visit(served)
    page.wait_for_selector("#hint >> text=No class is named yet. What do you see?")
    assert page.locator("#choices .choice").count() == 0
    told = []
    for _ in range(5):
        name, label = shown(page)
        known = [told_label for _, told_label in told]
        if label in known:
            page.keyboard.press(
                str(list(dict.fromkeys(known)).index(label) + 1)
            )  # in the order of their naming
            gone(page, name)
        else:
            named(page, label)
        told.append((name, label))
    settled(page)
    classes = list(dict.fromkeys(label for _, label in told))
    assert sorted(classes) == ["dark", "light"]  # both were met
    assert page.locator("#choices .choice").count() == 2
    facts = served.desk.store.facts(Answer)
    assert [(Path(one.id).name, classes[one.label]) for one in facts] == [
        (Path(name).name, label) for name, label in told
    ]
    assert tomllib.loads(served.project.plan.read_text())["classes"] == classes
    turn = stepped(served.project)
    assert turn.fitted.labels == 5


def test_a_name_that_is_there_already_answers_with_it_and_makes_no_second_class(
    served: Any, visit: Any
) -> None:
    page = visit(served)
    for _ in range(2):
        named(page, "dark")
    settled(page)
    assert tomllib.loads(served.project.plan.read_text())["classes"] == ["dark"]
    assert [one.label for one in served.desk.store.facts(Answer)] == [0, 0]

"""The owner's view of the others, in a browser on the server itself."""

from collections.abc import Iterator
from typing import Any

import pytest
from served_page import Served

from askwise.store.facts import Act, Answer, Resolution

OWNER, BEN = "the-token-that-the-owner-has", "the-token-that-ben-has"


@pytest.fixture
def served(project: Any) -> Iterator[Served]:
    with Served(project, people={OWNER: "ann", BEN: "ben"}) as found:
        yield found


def differing(served: Served) -> None:
    """One item that two people call by different names."""
    name = served.pool_ids()[0]
    for who, value in (("ann", 0), ("ben", 1)):
        served.desk.store.answer(
            [Answer(id=name, key=who, verdict="label", label=value, annotator=who, view="ask")]
        )


def test_the_owner_gives_a_link_with_its_code_and_removes_a_person(served: Served, visit: Any) -> None:
    page = visit(served)
    page.click("text=People")
    page.wait_for_selector("[data-person=ben]")
    page.fill("#person", "eve")
    page.click("text=Give a link")
    page.click("[data-person=eve] >> text=Link")
    assert page.input_value("#link") == f"http://{served.host}/#{served.people.token('eve')}"
    assert page.locator("svg.qr path").get_attribute("d").startswith("M4 4h1v1h-1z")
    page.keyboard.press("Escape")
    other = visit(served.of(BEN), ready="#stage .empty")  # the owner holds all the questions
    page.click("[data-person=ben] >> text=Remove")
    page.click("dialog button.primary")
    page.wait_for_selector("[data-person=ben]", state="detached")  # who never answered is not listed
    other.wait_for_selector("#saved[data-mode=offline]")
    assert served.people.token("ben") is None
    assert [(one.act, one.about) for one in served.desk.store.facts(Act)] == [
        ("give access", "eve"),
        ("take access", "ben"),
    ]
    page.wait_for_selector(".acts >> text=take access: ben")


def test_a_disagreement_waits_for_the_owners_word(served: Served, visit: Any) -> None:
    differing(served)
    page = visit(served)
    page.click("text=People")
    page.wait_for_selector("text=1 items have several blind answers; 0 % of them are alike.")
    page.click("text=ben: light")
    page.wait_for_selector("text=ben: light", state="detached")
    [word] = served.desk.store.facts(Resolution)
    assert (word.annotator, word.label) == ("ann", 1)
    assert list(served.desk.ledger.refresh().labels.values()) == [1]


def test_others_have_no_such_view_and_see_their_own_answers_alone(served: Served, visit: Any) -> None:
    differing(served)
    page = visit(served.of(BEN))
    assert not page.is_visible("[data-goto=people]")
    page.click("text=History")
    page.wait_for_selector(".answers li >> text=light")
    assert page.locator(".answers li").count() == 1


def test_the_view_has_no_barrier_and_fits_a_phone(served: Served, visit: Any) -> None:
    differing(served)
    page = visit(served, viewport={"width": 360, "height": 740})
    page.click("[data-goto=people]")
    page.wait_for_selector("[data-person=ben]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []

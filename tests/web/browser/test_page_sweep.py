"""Sweep in a real browser: marks, Enter, one undo, and the same facts however it is done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract_server import ContractServer
from served_page import Served
from small_page import truth, write_project
from test_page_keys import press, settled, shows
from test_page_looks import FITS, barriers
from test_page_markup import FOREIGN, PAYLOADS

from askwise.store.facts import Sweep
from askwise.web.desk import opaque
from askwise.web.models import AnswerGiven


def swept(page: Any) -> None:
    """Goes to Sweep by its key, and waits for the tiles."""
    page.keyboard.press("Tab")
    page.wait_for_selector("#sweep .tile")


def test_twenty_four_tiles_with_three_wrong_are_four_actions_and_one_undo(visit: Any) -> None:
    with ContractServer(items=60) as server:
        page = visit(server)
        swept(page)
        tiles = page.locator("#sweep .tile")
        assert tiles.count() == 24
        tiles.nth(3).click()  # wrong, and nobody says what it is
        tiles.nth(5).hover()
        page.keyboard.press("2")
        tiles.nth(7).hover()
        page.keyboard.press("3")
        assert page.locator("#sweep .tile[aria-pressed=true]").count() == 3
        page.keyboard.press("Enter")
        page.wait_for_selector("#sweep >> text=21 confirmed as cat, 3 marked.")
        settled(page)
        others = {"i5": ("label", "dog"), "i7": ("label", "owl")}
        wanted = {f"i{n}": ("label", "cat") for n in range(24) if n != 3} | others
        assert server.verdicts() == wanted
        assert len({fact["key"] for fact in server.facts}) == 1
        page.wait_for_selector("[aria-label='item 24']")
        page.keyboard.press("Backspace")
        settled(page)
        page.wait_for_selector("#sweep .tile[aria-label='item 5, dog']")
        assert server.verdicts() == {}
        assert page.locator("#sweep .tile[aria-pressed=true]").count() == 3
        page.keyboard.press("Enter")
        page.wait_for_selector("[aria-label='item 24']")
        settled(page)
        assert server.verdicts() == wanted


def test_more_tiles_at_once_are_a_choice_that_this_browser_keeps(visit: Any) -> None:
    with ContractServer(items=80) as server:
        page = visit(server)
        swept(page)
        assert page.locator("#sweep .tile").count() == 24
        page.click("#sweep >> text=up to 60")
        page.wait_for_selector("#sweep .tile >> nth=59")
        assert page.locator("#sweep [aria-pressed=true] >> text=up to 60").count() == 1
        page.reload()
        page.wait_for_selector("#stage article, #stage img, #stage table")
        swept(page)
        assert page.locator("#sweep .tile").count() == 60
        assert server.facts == []


def test_arrows_and_keys_alone_mark_and_take_off_and_marks_outlast_another_view(visit: Any) -> None:
    with ContractServer(items=40) as server:
        page = visit(server)
        swept(page)
        press(page, "ArrowRight", "ArrowRight", "2", "ArrowRight", "Space", "ArrowRight", "Space", "Space")
        marked = page.locator("#sweep .tile[aria-pressed=true]")
        assert [one.get_attribute("aria-label") for one in marked.all()] == ["item 2, dog", "item 3, wrong"]
        press(page, "ArrowLeft", "1")  # its own class takes the mark off
        assert marked.count() == 1
        press(page, "ArrowDown", "End")
        page.click("[data-goto=ask]")
        page.wait_for_selector("#ask:not([hidden])")
        shows(page, "item 0")
        page.click("[data-goto=sweep]")
        assert marked.count() == 1, "the marks are still there"
        page.click("#sweep .offers >> text=owl")
        page.wait_for_selector("#sweep .sweep-title >> text=owl")
        assert server.facts == []


def test_a_grid_confirmed_and_taken_back_without_the_server_arrives_in_order(visit: Any) -> None:
    with ContractServer(items=60) as server:
        page = visit(server)
        swept(page)
        server.kill()
        press(page, "Enter")
        page.wait_for_selector("#sweep >> text=Your grid is kept here")
        press(page, "Backspace", "Enter")
        server.start()
        settled(page)
        assert server.verdicts() == {f"i{n}": ("label", "cat") for n in range(24)}
        assert [fact["verdict"] for fact in server.facts] == ["label"] * 24 + ["retract"] * 24 + [
            "label"
        ] * 24


@pytest.mark.parametrize("kind", ["text", "row", "image"])
def test_no_barrier_no_sideways_scroll_and_names_stay_text(kind: str, visit: Any) -> None:
    some = PAYLOADS[::25]
    items = [{"name": text, "text": text, "row": [[text, text]] * 3} for text in some * 4]
    if kind == "image":
        items = [{"name": one["name"]} for one in items]
    with ContractServer(kind=kind, items=items, classes=["cat", *some]) as server:
        page = visit(
            server,
            bypass_csp=True,
            viewport={"width": 360, "height": 740},
            color_scheme="dark" if kind == "row" else "light",
            ready="#stage article, #stage img, #stage table",
        )
        page.click("[data-goto=sweep]")
        page.wait_for_selector("#sweep .tile img, #sweep .tile .snippet")
        page.locator("#sweep .tile").nth(1).click()
        page.locator("#sweep .tile").nth(2).focus()
        press(page, "2")
        page.wait_for_selector("#sweep .tile[aria-pressed=true] >> nth=1")
        assert page.evaluate(FITS)
        assert barriers(page) == []
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("() => globalThis.ran") is None


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The server itself on sixty pictures; ann has labelled four light ones, and the model knows the dark."""
    with Served(write_project(tmp_path, pictures=60)) as page:
        given = [
            AnswerGiven(key=f"light-{n:04d}", item=opaque(name), verdict="label", value="light")
            for n, name in enumerate(of_class(page, "light")[:4])
        ]
        page.desk.answer("ann", given)
        dark = of_class(page, "dark")
        page.live.tell("sweepable", found=[{"number": 0, "ids": dark, "sure": [0.95] * len(dark)}])
        yield page


def of_class(page: Served, wanted: str) -> list[str]:
    return [name for name in page.pool_ids() if truth(name.rpartition("/")[2]) == wanted]


def test_the_server_keeps_sentinels_as_they_are_and_one_undo_restores_the_labels(
    served: Served, visit: Any
) -> None:
    desk = served.desk
    before = dict(desk.ledger.refresh().labels)
    page = visit(served)
    swept(page)
    page.wait_for_selector("#sweep .tile img >> nth=23")
    assert page.locator("#sweep .tile").count() == 24
    page.keyboard.press("Enter")
    page.wait_for_selector("#sweep >> text=24 confirmed as dark")
    settled(page)
    after = dict(desk.ledger.refresh().labels)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 22
    [fact] = desk.store.facts(Sweep)
    assert len(fact.missed) == len(fact.sentinels) == 2
    page.keyboard.press("Backspace")
    page.wait_for_selector("#sweep >> text=Taken back: 24 items of dark.")
    settled(page)
    assert dict(desk.ledger.refresh().labels) == before


def test_what_is_chosen_in_find_opens_as_a_sweep_of_these_items(served: Served, visit: Any) -> None:
    page = visit(served)
    page.click("[data-goto=find]")
    page.fill("#find input[type=search]", "p02")  # p020 ... p029
    page.wait_for_selector("#find >> text=10 items with “p02”.")
    page.click("#find >> text=Choose all")
    page.select_option("[aria-label='Class of the chosen']", "dark")
    held = {lease.question.id for lease in served.desk.store.leases()}
    free = {name for name in served.pool_ids() if "p02" in name and name not in held}
    page.keyboard.press("Enter")
    page.wait_for_selector("#sweep .sweep-title >> text=dark")
    light = [f"p02{n}.png" for n in range(0, 10, 2)]
    for tile in page.locator("#sweep .tile").all():
        if any(name in tile.get_attribute("aria-label") for name in light):
            tile.hover()
            page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sweep >> text=confirmed as dark")
    settled(page)
    [fact] = served.desk.store.facts(Sweep)
    found = served.desk.ledger.refresh().labels
    assert set(fact.items) == free, "all that nobody is asked about just now"
    assert all(("dark", "light")[found[name]] == truth(name.rpartition("/")[2]) for name in free)


def test_on_a_phone_a_tap_says_the_class_that_was_chosen_below(visit: Any) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    long = "a class whose name is rather long for a phone"
    with ContractServer(items=60, classes=["cat", "dog", "owl", long]) as server:
        page = visit(server, **phone)
        page.tap("[data-goto=sweep]")
        tiles = page.locator("#sweep .tile")
        tiles.nth(0).tap()
        page.tap("#sweep .brushes >> text=owl")
        tiles.nth(1).tap()
        tiles.nth(0).tap()  # says something else
        tiles.nth(2).tap()
        tiles.nth(2).tap()  # says it no more
        page.tap("#sweep .brushes >> text=wrong")
        tiles.nth(3).tap()
        marked = page.locator("#sweep .tile[aria-pressed=true]")
        assert [one.get_attribute("aria-label") for one in marked.all()] == [
            "item 0, owl", "item 1, owl", "item 3, wrong",
        ]  # fmt: skip
        sizes = [one.bounding_box()["height"] for one in page.locator("#sweep .brushes button").all()]
        assert len(sizes) == 4  # three classes, and wrong
        assert min(sizes) >= 44
        assert page.evaluate(FITS)
        assert barriers(page) == []
        page.tap("#sweep .sweep-foot .primary")
        page.wait_for_selector("#sweep >> text=21 confirmed as cat, 3 marked.")
        settled(page)
        assert [server.verdicts().get(f"i{n}") for n in range(4)] == [
            ("label", "owl"), ("label", "owl"), ("label", "cat"), None,
        ]  # fmt: skip

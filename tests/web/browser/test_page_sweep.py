"""Sweep in a real browser: marks, Enter, one undo, and the same facts however it is done."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from contract_server import ContractServer
from small_page import TOKEN, Still, truth, write_project
from test_page_keys import press, settled, shows
from test_page_looks import FITS, barriers
from test_page_markup import FOREIGN, PAYLOADS

from askwise.store.facts import Sweep
from askwise.web.app import make_app
from askwise.web.desk import Desk, opaque
from askwise.web.models import AnswerGiven
from askwise.web.people import People


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


@contextmanager
def real(folder: Path) -> Iterator[Any]:
    """The real server on a project of pictures; ann has labelled four light ones herself."""
    project = write_project(folder, pictures=60)
    desk = Desk(project)
    live = Still(project.folder, encodes=False, bar=desk.bar)
    place = socket.create_server(("127.0.0.1", 0))
    host = f"127.0.0.1:{place.getsockname()[1]}"
    people = People({"ann": TOKEN}, owner="ann")
    app = make_app(desk, live, people=people, hosts=frozenset({host}), per_second=1e6)
    server: Any = uvicorn.Server(
        uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    server.url, server.desk, server.live = f"http://{host}/#{TOKEN}", desk, live
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(20)


def test_the_server_keeps_sentinels_as_they_are_and_one_undo_restores_the_labels(
    tmp_path: Path, visit: Any
) -> None:
    with real(tmp_path) as server:
        desk = server.desk
        names = {name: truth(name.rpartition("/")[2]) for name in desk.pool.ids}
        light = [name for name, said in names.items() if said == "light"]
        dark = [name for name, said in names.items() if said == "dark"]
        given = [
            AnswerGiven(key=f"light-{n:04d}", item=opaque(name), verdict="label", value="light")
            for n, name in enumerate(light[:4])
        ]
        desk.answer("ann", given)
        server.live.tell("sweepable", found=[{"number": 0, "ids": dark, "sure": [0.95] * len(dark)}])
        before = dict(desk.ledger.refresh().labels)
        page = visit(server)
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

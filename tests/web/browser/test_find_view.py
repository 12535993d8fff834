"""Find in a real browser: by words, by class, more like this, and a line around points of the map."""

from typing import Any

import pytest
from contract_server import ContractServer, wire
from test_page_keys import press, until
from test_page_looks import FITS, barriers
from test_page_markup import FOREIGN

TILES = "() => [...document.querySelectorAll('#find .tile')].map((one) => one.getAttribute('aria-label'))"


def found(server: ContractServer, places: list[int], **more: Any) -> dict[str, Any]:
    items = [
        {
            "item": wire(f"i{place}"),
            "name": server.items[f"i{place}"]["name"],
            "label": more.get("labels", {}).get(place),
            "fits": 0.5,
        }
        for place in places
    ]
    return {"items": items, "of": more.get("of"), "looked_at": more.get("looked_at", 100)}


def findable(server: ContractServer) -> dict[str, Any]:
    """Routes of Find that remember what they were asked."""
    asked: dict[str, Any] = {}

    def route(name: str, reply: Any) -> Any:
        def answer(query: Any) -> Any:
            asked[name] = query
            return reply

        return answer

    points = [
        {
            "item": wire(f"i{place}"),
            "x": (place % 10) / 9,
            "y": place // 10 / 9,
            "label": "cat" if place < 9 else None,
        }
        for place in range(100)
    ]
    server.more |= {
        "/api/search": route("search", found(server, [41, 42], labels={42: "dog"})),
        "/api/guessed": route("guessed", found(server, [50, 51, 52])),
        "/api/similar/*": route("similar", found(server, [60, 61])),
        "/api/map": route("map", {"points": points, "of": 4000}),
        "/api/lasso": route("lasso", found(server, [70, 71], of=312)),
    }
    return asked


def tiles(page: Any, names: list[str]) -> None:
    page.wait_for_function(f"names => JSON.stringify(({TILES})()) === JSON.stringify(names)", arg=names)


def test_words_a_class_and_more_like_this_each_list_items(visit: Any) -> None:
    with ContractServer() as server:
        asked = findable(server)
        page = visit(server)
        page.click("[data-goto=find]")
        page.fill("#find input[type=search]", "Forty")
        tiles(page, ["item 41", "item 42, dog"])
        assert asked["search"] == {"text": "Forty", "n": "60"}
        page.wait_for_selector("text=2 items with “Forty”.")
        page.select_option("[aria-label='Items that the model would call']", "owl")
        page.click("#find >> text=Least sure")
        tiles(page, ["item 50", "item 51", "item 52"])
        assert asked["guessed"] == {"class": "owl", "order": "unsure", "n": "60"}
        page.locator("#find .tile").nth(1).focus()
        page.click("#find >> text=More like this")
        tiles(page, ["item 60", "item 61"])
        page.wait_for_selector("text=2 items like item 51.")
        page.locator("#find .tile").nth(1).focus()
        page.click("#find .actions >> text=Open")
        page.wait_for_selector("text=Out of turn.")
        assert page.locator("#caption").inner_text() == "item 61"
        press(page, "Escape")
        page.wait_for_selector("#find .tile")
        assert server.facts == []


def test_a_line_around_points_finds_all_items_inside_by_pointer_and_by_keys(visit: Any) -> None:
    with ContractServer() as server:
        asked = findable(server)
        page = visit(server)
        page.click("[data-goto=find]")
        page.click("#find >> text=Map")
        page.wait_for_selector("text=100 of 4,000 items;")
        box = page.locator("canvas.map").bounding_box()
        at = [(0.1, 0.1), (0.5, 0.1), (0.5, 0.5), (0.1, 0.5)]
        spots = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in at]
        page.mouse.move(*spots[0])
        page.mouse.down()
        for spot in spots[1:]:
            page.mouse.move(*spot, steps=4)
        page.mouse.up()
        tiles(page, ["item 70", "item 71"])
        page.wait_for_selector("text=312 items inside the line; 2 of them are shown.")
        corners = asked["lasso"]["corners"]
        assert 12 <= len(corners) <= 400
        assert abs(max(x for x, _ in corners) - 0.5) < 0.05
        assert abs(min(y for _, y in corners) - 0.1) < 0.06
        page.focus("canvas.map")
        press(page, "ArrowRight", "ArrowRight", "ArrowUp", "]", "Enter")
        page.wait_for_function("() => document.activeElement.matches('canvas.map')")
        until(page, lambda: len(asked["lasso"]["corners"]) == 28)
        circle = asked["lasso"]["corners"]
        assert sum(x for x, _ in circle) / 28 == pytest.approx(0.58)
        assert sum(y for _, y in circle) / 28 == pytest.approx(0.46)
        page.mouse.click(box["x"] + 14, box["y"] + 14)
        tiles(page, ["item 60", "item 61"])


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_find_has_no_barrier_no_sideways_scroll_and_no_markup(colours: str, visit: Any) -> None:
    nasty = "<img src=x onerror=globalThis.ran=1>" * 6
    with ContractServer(
        classes=["cat", nasty[:150]], items=[{"name": nasty, "text": nasty * 20}] * 100
    ) as server:
        findable(server)
        phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
        page = visit(server, color_scheme=colours, **(phone if colours == "light" else {}))
        page.click("[data-goto=find]")
        page.fill("#find input[type=search]", "img")
        page.wait_for_selector("#find .tile .snippet")
        page.click("#find >> text=Map")
        page.wait_for_selector(".legend li")
        assert barriers(page) == []
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("() => globalThis.ran") is None
        if colours == "light":
            assert page.evaluate(FITS)

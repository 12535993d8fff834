"""The page's looks and words: no barrier, no sideways scroll, a sentence for every state."""

from typing import Any

import pytest
from contract_server import ContractServer
from test_page_keys import press, settled, shows, until

TOLD = {
    "labels": 40,
    "seen": 38,
    "given": 40,
    "model": "learning",
    "speed": {"per_minute": 31.4},
    "curve": [
        {"labels": 10, "accuracy": 0.5},
        {"labels": 20, "accuracy": None},
        {"labels": 30, "accuracy": 0.8},
    ],
    "accuracy": {
        "value": 0.8,
        "low": 0.71,
        "high": 0.88,
        "said": "The accuracy is between 71.0 and 88.0 %, measured on 25 test answers.",
    },
    "forecast": "a forecast: the next 50 labels should bring about 0.8 points (-0.6 to 2.0)",
    "encoding": {"done": 200, "of": 1000, "seconds_left": 70, "encoder": "lite0", "then": "lite2"},
    "encoder": "lite0",
    "balance": [{"name": "cat", "count": 25}, {"name": "dog", "count": 15}, {"name": "owl", "count": 0}],
}
WORDS = [
    *(
        "40",
        "labels of 100",
        "80 %",
        "between 71.0 and 88.0 %, measured on 25 test answers",
        "31",
        "cat",
        "25",
    ),
    *("It has seen 38 of 40 answers.", "200 of 1,000 items encoded by lite0, about 70 seconds left."),
    "It works with the features of lite0; it moves to lite2 once that has seen all items.",
    "A forecast: the next 50 labels should bring about 0.8 points (-0.6 to 2.0).",
]
FITS = """() => innerWidth === 360
  && Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) <= innerWidth"""
HEIGHTS = """() => [...document.querySelectorAll(".choice, .done, .tabs button, .tile")]
  .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().height)"""


def barriers(page: Any) -> list[str]:
    """The serious findings of axe-core."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(colours: str, visit: Any) -> None:
    with ContractServer() as server:
        server.model = True
        server.tell(**TOLD)
        page = visit(server, color_scheme=colours)
        page.wait_for_selector(".tiles .snippet")
        found = {"ask": barriers(page)}
        press(page, "1", "ArrowLeft")
        page.wait_for_selector("text=An earlier answer.")
        page.click("[data-act=why]")
        page.wait_for_selector(".why .snippet")
        found["why"] = barriers(page)
        for key in "/?+" if colours == "light" else "?":
            press(page, key)
            page.wait_for_selector("dialog[open]")
            found[key] = barriers(page)
            press(page, "Escape")
        settled(page)
        page.click("[data-goto=history]")
        page.wait_for_selector(".answers li")
        found["history"] = barriers(page)
        assert found == {name: [] for name in found}
        page.evaluate("() => document.querySelector('.answers button').removeAttribute('aria-label')")
        page.evaluate("() => document.querySelector('.answers button').replaceChildren()")
        assert barriers(page), "a button without a name must be found"


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_nothing_scrolls_sideways_on_a_phone(task: str, visit: Any) -> None:
    names = ["cat", "a class whose name is much longer than the others and goes on", "x" * 80]
    with ContractServer(
        task=task, classes=names, items=[{"name": "n" * 200, "text": "w" * 400 + " word" * 900}] * 9
    ) as server:
        server.model = True
        server.tell(**{**TOLD, "balance": [{"name": name, "count": 3} for name in names]})
        page = visit(server, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
        for tab in reversed(page.locator(".tabs button:visible").all()):
            tab.tap()
            page.wait_for_selector(f"body[data-view={tab.get_attribute('data-goto')}]")
            assert page.evaluate(FITS), tab.inner_text()
            small = [high for high in page.evaluate(HEIGHTS) if high < 44]
            assert small == [], tab.inner_text()
            assert tab.bounding_box()["height"] < 50, "a word of two lines"
        assert page.locator(".choice:visible, .done:visible").count() > 0, "Ask has its answers"
        page.keyboard.press("?")
        assert page.evaluate(FITS), "keys"
        page.evaluate("() => document.querySelector('.top').append('w'.repeat(400))")
        page.evaluate("() => { document.body.style.overflowWrap = 'normal'; }")
        assert not page.evaluate(FITS), "a line that cannot break must be found"


@pytest.mark.parametrize("size", [(740, 360), (768, 1024), (1366, 620), (360, 420)])
def test_item_and_first_answer_are_in_sight_at_every_size(size: tuple[int, int], visit: Any) -> None:
    with ContractServer(classes=[f"class {place}" for place in range(12)]) as server:
        page = visit(server, viewport={"width": size[0], "height": size[1]})
        for part in ("#stage", ".choice >> nth=0"):
            box = page.locator(part).bounding_box()
            assert box["height"] >= 40
            assert box["y"] + 40 <= size[1]
            assert box["x"] + min(box["width"], 40) <= size[0]


def test_the_panel_tells_how_it_stands(visit: Any) -> None:
    with ContractServer() as server:
        server.model = True
        page = visit(server)
        server.tell(**TOLD, next="Answer fifty more.")
        page.wait_for_selector("text=Answer fifty more.")
        words = page.locator("#panel").inner_text()
        assert [told for told in WORDS if told not in words] == []
        assert page.locator("svg.curve path.line").get_attribute("d").count("L") == 1
        server.tell(trainer="restarting")
        page.wait_for_selector("text=The trainer starts again; your answers are safe.")


def test_an_unsure_item_is_opened_from_the_gallery_without_its_guess_and_answered(visit: Any) -> None:
    with ContractServer(items=20) as server:
        server.model = True
        page = visit(server)
        page.wait_for_selector(".tiles .snippet")
        assert "guess" not in page.locator("#panel-unsure").inner_text()
        page.click("[aria-label='Open item 15']")
        page.wait_for_selector("text=Out of turn.")
        press(page, "2")
        page.wait_for_selector("text=Which class is it?")
        settled(page)
        assert server.verdicts() == {"i15": ("label", "dog")}
        assert (server.facts[0]["question"], server.facts[0]["assisted"]) == (None, False)
        page.click("[aria-label='Open item 16']")
        page.wait_for_selector("text=Out of turn.")
        press(page, "Escape")
        page.wait_for_selector("text=Which class is it?")
        assert len(server.facts) == 1


def test_light_and_dark_are_switched_and_kept(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server, color_scheme="light")
        ground = "() => getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.click("#theme")
        dark = page.evaluate(ground)
        assert light != dark
        page.reload()
        assert page.evaluate(ground) == dark


def at_each(page: Any, key: str, *names: str) -> None:
    """Press a key at each of these items, once it is shown."""
    for name in names:
        shows(page, name)
        press(page, key)


def test_the_first_minutes_have_their_words(visit: Any) -> None:
    with ContractServer(classes=[], items=4) as server:
        server.reason = "No class has a name yet: add one with +."
        page = visit(server, ready="text=What do you want to tell apart?")
        page.click("text=Name the first class")
        page.keyboard.type("cat")
        server.reason = "The encoder is at item 200 of 4,000; the first questions come soon."
        server.tell(model="encoding", encoding={"done": 200, "of": 4000, "seconds_left": 240})
        page.keyboard.press("Enter")
        page.wait_for_selector("text=The items are being read")
        page.wait_for_selector("#stage >> text=200 of 4,000 items encoded, about 4 minutes left.")
        server.reason = None
        server.tell(model="cold", encoding=None)
        at_each(page, "1", "item 0", "item 1", "item 2")
        page.wait_for_selector("text=Only cat so far.")
        at_each(page, "Backspace", "item 3", "item 2", "item 1")
        until(page, lambda: [fact["verdict"] for fact in server.facts[3:]] == ["retract"] * 3)
        at_each(page, "Space", "item 0", "item 1", "item 2", "item 3")
        page.wait_for_selector("text=You have skipped everything")
        press(page, "Backspace")
        at_each(page, "1", "item 3")
        page.wait_for_selector("text=Only skipped items are left")
        page.wait_for_selector("text=1 labelled, 3 skipped.")
        before = server.asked
        page.wait_for_timeout(1000)
        assert server.asked - before < 5, "a page without questions must not ask without end"
        page.click("text=Ask the skipped ones again")
        at_each(page, "1", "item 0", "item 1", "item 2")
        page.wait_for_selector("text=Every item is answered")
        assert server.verdicts() == {f"i{place}": ("label", "cat") for place in range(4)}

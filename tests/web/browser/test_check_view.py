"""Check in a real browser: keep, change, cannot tell and undo by keys; what was said is in sight."""

from typing import Any

import pytest
from contract_server import ContractServer, ProblemError, wire
from test_page_keys import press, settled
from test_page_looks import FITS, barriers
from test_page_markup import FOREIGN

from askwise.web import team_models

KINDS = ("suspects", "disagreements", "swept", "edited", "skipped", "unclear")


def said(value: Any, who: str = "you", verdict: str = "label") -> dict[str, Any]:
    return {"annotator": who, "yours": who == "you", "verdict": verdict, "value": value, "assisted": False}


def queue(server: ContractServer, lists: dict[str, list[dict[str, Any]]]) -> None:
    """Serves these lists: an item that was answered in Check is not in them any more."""

    def check(query: dict[str, str]) -> dict[str, Any]:
        last = {fact["item"]: fact for fact in server.facts}
        left = {
            kind: [one for one in lists.get(kind, []) if last.get(one["item"], {}).get("view") != "check"]
            for kind in KINDS
        }
        items = [
            {
                "name": server.items[one["item"]]["name"],
                "holds": {key: one["said"][-1][key] for key in ("verdict", "value")},
                **one,
                "item": wire(one["item"]),
            }
            for one in left[query["kind"]]
        ]
        return {"kind": query["kind"], "items": items, "counts": {kind: len(left[kind]) for kind in KINDS}}

    server.more["/api/check"] = check


def suspected(item: str, given: str, likelier: str) -> dict[str, Any]:
    return {"item": item, "said": [said(given)], "likelier": {"name": likelier, "p": 0.93, "given_p": 0.02}}


def caption(page: Any, name: str) -> None:
    page.wait_for_function("name => document.querySelector('#check .name').textContent === name", arg=name)


def sent(server: ContractServer) -> list[tuple[Any, ...]]:
    return [(f["item"], f["verdict"], f["value"], f["view"], f["assisted"]) for f in server.facts]


def test_a_suspect_is_kept_changed_or_cannot_be_told_by_one_key_each_and_undone(visit: Any) -> None:
    with ContractServer() as server:
        lists = {"suspects": [suspected(f"i{place}", "cat", "dog") for place in range(50, 54)]}
        queue(server, lists)
        page = visit(server)
        press(page, "Tab", "Tab")  # over Sweep
        caption(page, "item 50")
        told = page.locator("#check .told-before").inner_text()
        assert told == (
            "You said cat. Models that have not seen this label find dog likelier: 93 % against 2 %."
        )
        press(page, "Enter")
        caption(page, "item 51")
        press(page, "2")
        caption(page, "item 52")
        press(page, "-")
        caption(page, "item 53")
        press(page, "Backspace")
        caption(page, "item 52")
        press(page, "3", "Enter")
        page.wait_for_selector("text=No label looks wrong to models that have not seen it.")
        settled(page)
        assert sent(server) == [
            ("i50", "label", "cat", "check", True),
            ("i51", "label", "dog", "check", True),
            ("i52", "unclear", None, "check", True),
            ("i52", "label", "cat", "history", False),
            ("i52", "label", "owl", "check", True),
            ("i53", "label", "cat", "check", True),
        ]
        press(page, "1")
        settled(page)
        assert len(server.facts) == 6, "without an item no key answers"


def test_people_who_differ_stand_side_by_side_and_a_changed_class_cannot_be_kept(visit: Any) -> None:
    with ContractServer() as server:
        lists = {
            "disagreements": [{"item": "i60", "said": [said("dog", "ben"), said("cat")]}],
            "edited": [{"item": "i61", "said": [said("bird")]}],
            "skipped": [{"item": "i62", "said": [said(None, verdict="skip")]}],
        }
        queue(server, lists)
        page = visit(server)
        page.click("[data-goto=check]")
        page.click("[data-kind=disagreements]")
        caption(page, "item 60")
        assert page.locator("#check .told-before").inner_text() == "ben said dog, you said cat."
        page.click("[data-kind=edited]")
        caption(page, "item 61")
        assert page.locator("[data-check=keep]").is_disabled()
        press(page, "Enter", "1")
        page.wait_for_selector("text=No item has lost its class.")
        page.click("[data-kind=skipped]")
        caption(page, "item 62")
        press(page, "Enter")
        settled(page)
        assert sent(server) == [
            ("i61", "label", "cat", "check", False),
            ("i62", "skip", None, "check", False),
        ]


def test_where_answers_do_not_decide_a_last_word_is_sent_and_undo_takes_it_back(visit: Any) -> None:
    words: list[dict[str, Any]] = []

    def check(query: dict[str, str]) -> dict[str, Any]:
        said_last = words[-1]["verdict"] if words else "retract"
        tie = {"item": wire("i60"), "name": "item 60", "said": [said("dog", "ben"), said("cat")]}
        items = [tie] if said_last == "retract" and query["kind"] == "disagreements" else []
        return {"kind": query["kind"], "items": items, "resolves": True, "counts": dict.fromkeys(KINDS, 0)}

    def keep(body: dict[str, Any]) -> dict[str, Any]:
        words.append(team_models.ResolutionGiven.model_validate(body).model_dump())
        return {"key": body["key"], "revision": len(words)}

    with ContractServer() as server:
        server.more |= {"/api/check": check, "/api/resolutions": keep}
        page = visit(server)
        page.click("[data-goto=check]")
        page.click("[data-kind=disagreements]")
        caption(page, "item 60")
        assert page.locator("[data-check=keep]").is_disabled(), "nothing holds yet"
        press(page, "2")
        page.wait_for_selector("text=Nobody disagrees with anybody.")
        settled(page)
        press(page, "Backspace")
        caption(page, "item 60")
        settled(page)
        told = [(one["item"], one["verdict"], one["value"]) for one in words]
        assert told == [(wire("i60"), "label", "dog"), (wire("i60"), "retract", None)]
        assert server.facts == []


def test_a_model_that_is_busy_is_asked_again(visit: Any) -> None:
    calls = []

    def busy(_: dict[str, str]) -> None:
        calls.append(1)
        if len(calls) == 3:
            queue(server, {"suspects": [suspected("i50", "cat", "dog")]})
        raise ProblemError(409, "the model is at work; try again in a moment")

    def broken(_: dict[str, str]) -> None:
        raise ProblemError(400, "the labels are no classes")

    with ContractServer() as server:
        server.more["/api/check"] = busy
        page = visit(server)
        page.click("[data-goto=check]")
        caption(page, "item 50")
        assert len(calls) == 3
        server.more["/api/check"] = broken
        page.click("[data-kind=skipped]")
        page.wait_for_selector("text=It cannot be shown now: the labels are no classes.")
        queue(server, {"skipped": [{"item": "i51", "said": [said(None, verdict="skip")]}]})
        page.click("#check button:text-is('Try again')")
        caption(page, "item 51")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_check_has_no_barrier_no_sideways_scroll_and_no_markup(colours: str, visit: Any) -> None:
    nasty = "<img src=x onerror=globalThis.ran=1>" * 6
    names = ["cat", nasty[:150]]
    with ContractServer(classes=names, items=[{"name": nasty, "text": nasty * 20}] * 9) as server:
        queue(server, {"suspects": [suspected("i5", nasty[:150], "cat")]})
        phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
        page = visit(server, color_scheme=colours, **(phone if colours == "light" else {}))
        page.click("[data-goto=check]")
        page.wait_for_selector("#check .stage article")
        assert barriers(page) == []
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("() => globalThis.ran") is None
        if colours == "light":
            assert page.evaluate(FITS)


def test_of_numbers_the_page_says_what_is_waited_for_and_measured_and_that_they_are_not_checked(
    visit: Any,
) -> None:
    with ContractServer(task="regression", classes=[]) as server:
        server.model = False
        why = "Numbers are not checked: only a label that names one class is held against the model."
        counts = dict.fromkeys(KINDS, 0) | {"suspects": None}
        server.more["/api/check"] = lambda query: {
            "kind": query["kind"], "items": [], "counts": counts, "unchecked": why,
        }  # fmt: skip
        told = "The rmse is an estimate from 12 test answers, without limits that are promised."
        server.status["measure"] = {"name": "rmse", "value": 0.41234, "said": told}
        page = visit(server)
        page.wait_for_selector("#panel-learning >> text=Waiting for two different numbers")
        numbers = page.locator("#panel-numbers").inner_text()
        assert "0.412\n" in numbers
        assert told in numbers
        assert "accuracy" not in numbers
        page.click("[data-goto=check]")
        page.wait_for_selector(f"text={why}")
        page.click("[data-kind=swept]")
        page.wait_for_selector("text=No grid is to be looked at again.")

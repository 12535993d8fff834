"""Certified labels in a real browser: a grid of checks, its answers, and the outcome in words."""

from typing import Any

from contract_server import ContractServer, wire
from test_page_keys import press, settled
from test_page_looks import FITS, barriers

PROMISE = "at most 5 % of these 90 labels differ from your own answers, on average over the set"


def outcome(**changes: Any) -> dict[str, Any]:
    return {
        "certified": True, "promise": PROMISE, "reason": None, "confidence": 0.95, "labels": 90, "checks": 6,
        "wrong": 1, "classes": [{"name": "cat", "labels": 90, "checks": 6, "wrong": 1}],
        "output": "exports/certified-1.csv", "void": None, **changes,
    }  # fmt: skip


def auditing(server: ContractServer, *, last: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Two grids of three checks, then an outcome; returns the claims that were sent."""
    claims: list[dict[str, Any]] = []

    def certify(claim: dict[str, Any]) -> dict[str, Any]:
        claims.append(claim)
        done = len({fact["item"] for fact in server.facts})
        guesses = ["cat", None, "cat"]
        asked = [
            {
                "question": f"c{p}",
                "item": wire(f"i{p}"),
                "name": server.items[f"i{p}"]["name"],
                "guess": guess,
            }
            for p, guess in zip(range(50 + done, 53 + done), guesses, strict=True)
        ]
        over = done >= 6
        return {
            "attempt": 1, "checked": done, "asked": [] if over else asked,
            "outcome": outcome() if over else None,
        }  # fmt: skip

    server.more["/api/check"] = lambda query: {
        "kind": query["kind"], "items": [],
        "counts": dict.fromkeys(("suspects", "disagreements", "edited", "skipped", "unclear"), 0),
    }  # fmt: skip
    server.more["/api/certify"] = certify
    server.more["/api/certificate"] = lambda _: {"last": last, "claim": None}
    return claims


def test_wrong_ones_get_a_class_the_others_are_right_and_the_outcome_is_a_promise(visit: Any) -> None:
    with ContractServer() as server:
        claims = auditing(server)
        page = visit(server)
        page.click("[data-goto=check]")
        page.click("[data-kind=certify]")
        page.fill("#certify-error", "5")
        page.click(".claim button")
        page.wait_for_selector("text=Attempt 1: 0 of at most 200 checked.")
        page.wait_for_selector("text=1 needs a class")
        press(page, "Enter")
        assert server.facts == [], "nothing is sent before every tile has its class"
        press(page, "2")
        page.locator(".certify .tile").nth(2).click()
        page.wait_for_selector("text=1 needs a class")
        press(page, "3", "Enter")
        page.wait_for_selector("text=Attempt 1: 3 of at most 200 checked.")
        page.locator(".certify .tile").nth(1).focus()
        press(page, "1", "Enter")
        page.wait_for_selector("text=Certified.")
        page.wait_for_selector(f"text={PROMISE} (confidence 95 %; 6 checks, 1 wrong, 90 labels).")
        settled(page)
        sent = [(f["item"], f["question"], f["value"], f["view"], f["assisted"]) for f in server.facts]
        assert sent == [
            ("i50", "c50", "cat", "check", True),
            ("i51", "c51", "dog", "check", False),
            ("i52", "c52", "owl", "check", True),
            ("i53", "c53", "cat", "check", True),
            ("i54", "c54", "cat", "check", False),
            ("i55", "c55", "cat", "check", True),
        ]
        assert claims[0] == {"error": 0.05, "confidence": 0.95, "checks": 200}


def test_a_void_certificate_says_so_and_nothing_is_a_barrier_or_scrolls_sideways(visit: Any) -> None:
    with ContractServer() as server:
        auditing(server, last=outcome(void="the model was trained again since"))
        phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
        page = visit(server, color_scheme="dark", **phone)
        page.click("[data-goto=check]")
        page.click("[data-kind=certify]")
        page.wait_for_selector("text=This certificate is void: the model was trained again since.")
        assert barriers(page) == []
        assert page.evaluate(FITS)
        page.click(".claim button")
        page.wait_for_selector(".certify .tile .snippet")
        assert barriers(page) == []
        assert page.evaluate(FITS)

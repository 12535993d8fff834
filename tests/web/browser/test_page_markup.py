"""Hostile text in every place that the page shows: it stays text, even without the policy against scripts."""

from typing import Any

import pytest
from contract_server import ContractServer
from test_page_keys import press, settled, shows

JS = "globalThis.ran=1"
TAGS = [
    f"<script>{JS}</script>",
    f"<img src=x onerror={JS}>",
    f"<svg onload={JS}>",
    f"<svg><script>{JS}</script></svg>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    f"<details open ontoggle={JS}>x</details>",
    f"<video><source onerror={JS}></video>",
    f"<audio src=x onerror={JS}>",
    f"<input autofocus onfocus={JS}>",
    f"<select autofocus onfocus={JS}></select>",
    f"<style>@keyframes x{{}}</style><b style=animation-name:x onanimationstart={JS}>b</b>",
    f"<object data='javascript:{JS}'></object>",
    f"<embed src='javascript:{JS}'>",
    "<iframe src='javascript:parent.ran=1'></iframe>",
    f"<form action='javascript:{JS}'><button autofocus>x</button></form>",
    f"<meta http-equiv=refresh content='0;url=javascript:{JS}'>",
    f"<math><mtext><img src=x onerror={JS}></mtext></math>",
    f"<template><script>{JS}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={JS}>'>",
    f"<link rel=stylesheet href='javascript:{JS}'>",
    f"<base href='javascript:{JS}//'>",
    f"<a href='javascript:{JS}' autofocus>x</a>",
    f"javascript:{JS}",
    f"{{{{constructor.constructor('{JS}')()}}}}${{{JS}}}",
    f"<SCRIPT\x0c>{JS}</SCRIPT>",
]
BREAKS = ["", '">', "'>", "</title></textarea></script>", "-->", "`;"]
PAYLOADS = [before + tag for tag in TAGS for before in BREAKS]
FOREIGN = """() => [...document.querySelectorAll(
  "iframe, object, embed, base, meta[http-equiv], math, template, style, audio, video, form, a, body script,"
  + "link[href^=javascript], [onerror], [onload], [onfocus], [ontoggle]")].map((one) => one.outerHTML)"""


def test_there_are_a_hundred_and_fifty_payloads_and_as_markup_they_would_run(browser: Any) -> None:
    assert len(set(PAYLOADS)) == 150
    with ContractServer() as server:
        context = browser.new_context(bypass_csp=True)
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector("#stage article")
        put = "document.querySelector('#stage').innerHTML = text"
        found = page.evaluate(
            f"text => {{ {put}; return ({FOREIGN})(); }}", TAGS[1]
        )  # before the page shows more
        page.wait_for_function("() => globalThis.ran === 1")  # as markup it does run
        assert found != []
        context.close()


@pytest.mark.parametrize("kind", ["text", "row"])
@pytest.mark.parametrize(
    "some", [PAYLOADS[::25], pytest.param(PAYLOADS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_hostile_text_never_runs(kind: str, some: list[str], visit: Any) -> None:
    # As names of project, item, class, tag, column and annotator; in text, cell, note, sentence, refusal.
    items = [{"name": text, "text": f"{text} in a text"} for text in some]
    if kind == "row":
        items = [{"name": text, "row": [[text, text]]} for text in some]
    with ContractServer(
        kind=kind, classes=some, items=items, task="multilabel" if kind == "row" else "classification"
    ) as server:
        server.name = server.annotator = "".join(some)[:2000]
        server.model = True
        server.tell(next="".join(some))
        page = visit(server, bypass_csp=True, ready="#stage article, #stage table")
        page.on("dialog", lambda dialog: dialog.accept())
        for place, text in enumerate(some):
            shows(page, text)
            assert text in page.locator("#stage").text_content()
            if place == 0:
                page.keyboard.press(".")
                page.fill("#words", "".join(some)[:900])
                press(page, "Enter", "Alt+Shift")
                page.click("[data-act=why]")
                page.wait_for_selector(".why .guess")
                press(page, "/")
                page.wait_for_selector("#found li")
                press(page, "Escape", "?")
                page.wait_for_selector(".keys li")
                press(page, "Escape")
            server.refuse = f"i{len(some) - 1}"
            press(page, *(["1", "Enter"] if kind == "row" else ["1"]))
        page.wait_for_selector(".notice")
        server.refuse = None
        page.click("text=Send again")
        settled(page)
        page.click("[data-goto=history]")
        for count in range(50, len(some) + 50, 50):
            count = min(count, len(some))
            page.wait_for_function("n => document.querySelectorAll('.answers li').length === n", arg=count)
            if count < len(some):
                page.click("text=Earlier answers")
        page.wait_for_selector(".answers li .note")
        page.wait_for_timeout(50)  # what was to run has run by the time of the next look
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("() => globalThis.ran") is None


def in_every_place(text: str, visit: Any) -> int:
    """How many places of the page showed one hostile text, as a text that did not run."""
    items = [{"name": text, "text": f"{text} in a text"} for _ in range(4)]
    with ContractServer(classes=[text, "dog"], items=items) as server:
        server.name = server.annotator = text
        server.model = True
        server.tell(next=text)
        page = visit(server, bypass_csp=True, ready="#stage article")
        page.on("dialog", lambda dialog: dialog.accept())

        def shown(where: str) -> None:
            page.wait_for_function(
                "([where, text]) => [...document.querySelectorAll(where)]"
                ".some((one) => one.textContent.includes(text))",
                arg=[where, text],
            )

        for where in ("#project", "#caption", "#stage", "#choices .label", "#panel"):
            shown(where)
        page.keyboard.press(".")
        page.fill("#words", text)
        page.keyboard.press("Enter")
        page.click("[data-act=why]")
        shown(".why .guess")
        page.keyboard.press("1")
        settled(page)
        server.refuse = "i1"
        page.keyboard.press("1")
        shown(".notice")
        page.click("[data-goto=history]")
        for where in (".answers li .quiet-words", ".answers li .note"):
            shown(where)
        annotator = page.locator(".answers li").first.text_content()
        assert annotator.count(text) >= 4  # the item, its class, the note and the annotator
        page.wait_for_timeout(50)  # what was to run has run by the time of the next look
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("() => globalThis.ran") is None
        page.context.close()
    return 10  # the eight that were waited for, and of an answer its class and its annotator


@pytest.mark.parametrize(
    "some",
    [
        PAYLOADS[7:8],
        *(pytest.param(PAYLOADS[at : at + 15], marks=pytest.mark.slow) for at in range(0, 150, 15)),
    ],
    ids=["one", *(f"from {at}" for at in range(0, 150, 15))],
)
def test_each_hostile_text_in_each_place_stays_text(
    some: list[str], visit: Any, record_property: Any
) -> None:
    places = [in_every_place(text, visit) for text in some]
    record_property("payloads, each in ten places", len(places))
    record_property("that ran", 0)

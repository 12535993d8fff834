"""The page in a real browser: what every key does, and what the server stores of it."""

from collections.abc import Callable
from typing import Any

import pytest
from contract_server import ContractServer


def settled(page: Any) -> None:
    """Waits until the page says that everything is stored."""
    page.wait_for_selector("#saved[data-mode=saved]")


def shows(page: Any, name: str) -> None:
    page.wait_for_function("name => document.getElementById('caption').textContent === name", arg=name)


def until(page: Any, holds: Callable[[], bool]) -> None:
    """Let the page go on until something holds, for two minutes at most."""
    for _ in range(6000):
        if holds():
            return
        page.wait_for_timeout(20)
    pytest.fail("it never came to hold")


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.fixture
def server() -> Any:
    with ContractServer() as running:
        yield running


def test_thirty_items_are_thirty_key_presses(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    for place in range(30):
        shows(page, f"item {place}")
        page.keyboard.press("123"[place % 3])
    shows(page, "item 30")
    settled(page)
    assert [fact["value"] for fact in server.facts] == [
        ["cat", "dog", "owl"][place % 3] for place in range(30)
    ]
    assert [fact["item"] for fact in server.facts] == [f"i{place}" for place in range(30)]
    assert {fact["verdict"] for fact in server.facts} == {"label"}
    assert all(
        fact["view"] == "ask" and not fact["assisted"] and fact["shown_ms"] >= 0 for fact in server.facts
    )


def test_ten_answers_are_undone_across_items_and_given_again(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    for place in range(12):
        shows(page, f"item {place}")
        page.keyboard.press("1")
    for place in range(11, 1, -1):
        page.keyboard.press("Backspace")
        shows(page, f"item {place}")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "cat")}
    assert [fact["verdict"] for fact in server.facts[12:]] == ["retract"] * 10
    page.keyboard.press("2")  # the first is corrected, the others are given again as they were
    for place in range(3, 12):
        shows(page, f"item {place}")
        page.keyboard.press("Shift+Backspace")
    shows(page, "item 12")
    settled(page)
    assert server.verdicts() == {
        f"i{place}": ("label", "dog" if place == 2 else "cat") for place in range(12)
    }


def test_skip_and_cannot_tell_are_verdicts_without_a_value(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    press(page, "Space", "-", "3")
    shows(page, "item 3")
    settled(page)
    assert server.verdicts() == {"i0": ("skip", None), "i1": ("unclear", None), "i2": ("label", "owl")}


def test_arrows_look_back_and_a_key_there_corrects(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    press(page, "1", "1", "1", "ArrowLeft", "ArrowLeft")
    shows(page, "item 1")
    assert page.locator(".choice[aria-pressed=true] .label").all_text_contents() == ["cat"]
    page.keyboard.press("2")
    shows(page, "item 2")
    page.keyboard.press("ArrowRight")
    shows(page, "item 3")
    settled(page)
    assert server.verdicts()["i1"] == ("label", "dog")
    assert server.facts[-1]["view"] == "history"
    page.keyboard.press("Backspace")  # undo brings the earlier answer back
    settled(page)
    assert server.verdicts()["i1"] == ("label", "cat")


def test_history_is_searched_filtered_and_corrected(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    press(page, "1", "2", "3", "1")
    settled(page)
    page.click("[data-goto=history]")
    page.wait_for_function("() => document.querySelectorAll('.answers li').length === 4")
    page.select_option("#history select", "cat")
    page.wait_for_function("() => document.querySelectorAll('.answers li').length === 2")
    page.fill("#history input", "item 3")
    page.wait_for_function("() => document.querySelectorAll('.answers li').length === 1")
    page.click("text=Correct")
    shows(page, "item 3")
    page.keyboard.press("3")
    page.wait_for_selector("#history:not([hidden])")
    settled(page)
    assert server.verdicts()["i3"] == ("label", "owl")
    assert (server.facts[-1]["view"], server.facts[-1]["question"]) == ("history", None)


def test_after_a_reload_work_goes_on_and_undo_knows_the_past(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    press(page, "1", "2", "3")
    settled(page)
    page.reload()  # the token stays with the tab
    shows(page, "item 3")
    page.wait_for_selector("[data-act=undo]:enabled")
    page.keyboard.press("Backspace")
    shows(page, "item 2")
    page.keyboard.press("1")
    shows(page, "item 3")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "dog"), "i2": ("label", "cat")}


def test_rows_are_shown_when_asked_and_again_from_the_past(visit: Any) -> None:
    rows = [
        {"name": f"house {place}", "row": [["rooms", str(place)], ["garden", "yes"]]} for place in range(5)
    ]
    with ContractServer(kind="row", items=rows) as server:
        page = visit(server, ready="#stage table")
        page.keyboard.press("1")
        shows(page, "house 1")
        settled(page)
        page.reload()
        shows(page, "house 1")
        page.wait_for_selector("[data-act=undo]:enabled")
        page.keyboard.press("ArrowLeft")
        shows(page, "house 0")
        page.wait_for_selector("#stage td >> text=0")
        assert page.locator("#stage td").all_text_contents() == ["0", "yes"]


def test_tags_toggle_and_enter_advances(visit: Any) -> None:
    with ContractServer(task="multilabel") as server:
        page = visit(server)
        press(page, "1", "3", "3", "2", "Enter")
        shows(page, "item 1")
        press(page, "Enter")
        shows(page, "item 2")
        settled(page)
        assert server.verdicts() == {"i0": ("label", ["cat", "dog"]), "i1": ("label", [])}


def test_a_number_is_typed_and_what_is_none_is_refused(visit: Any) -> None:
    with ContractServer(task="regression", classes=[]) as server:
        page = visit(server, ready="#number:focus")
        page.keyboard.type("-12.5")
        page.keyboard.press("Enter")
        shows(page, "item 1")
        page.wait_for_selector("#number:focus")
        page.keyboard.type("1e")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.getElementById('number').validationMessage")
        press(page, "Backspace", "Backspace", "u")
        shows(page, "item 2")
        settled(page)
        assert server.verdicts() == {"i0": ("label", -12.5), "i1": ("unclear", None)}
        page.keyboard.press("Backspace")  # an empty field leaves it to undo
        shows(page, "item 1")


def test_a_digit_goes_to_the_number_wherever_the_focus_was(visit: Any) -> None:
    with ContractServer(task="regression", classes=[]) as server:
        page = visit(server, ready="#number:focus")
        page.evaluate("() => document.activeElement.blur()")
        page.keyboard.type("42")
        assert page.locator("#number").input_value() == "42"
        page.keyboard.press("Enter")
        shows(page, "item 1")
        settled(page)
        assert server.verdicts() == {"i0": ("label", 42)}


def test_one_class_of_three_hundred_is_found_by_slash_four_letters_and_enter(visit: Any) -> None:
    names = [f"species {place:03d}" for place in range(299)] + ["bee-eater"]
    with ContractServer(classes=names) as server:
        page = visit(server)
        press(page, "/", "b", "e", "e", "-", "Enter")
        shows(page, "item 1")
        press(page, "/")  # the class used last is on top
        assert page.locator("#found li .label").first.text_content() == "bee-eater"
        press(page, "2", "1", "7", "Enter")
        shows(page, "item 2")
        settled(page)
        assert server.verdicts() == {"i0": ("label", "bee-eater"), "i1": ("label", "species 217")}


def test_a_new_class_is_added_and_answered_with(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    server.class_revision = 7  # somebody else has changed the classes: the page looks again
    page.keyboard.press("+")
    page.keyboard.type("heron")
    page.keyboard.press("Enter")
    shows(page, "item 1")
    page.keyboard.press("4")
    shows(page, "item 2")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "heron"), "i1": ("label", "heron")}


def test_a_class_is_renamed_and_answers_by_its_new_name(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.keyboard.press("?")
    page.click("[aria-label='Change the class owl']")
    page.fill("#words", "tawny owl")
    press(page, "Enter")
    page.wait_for_selector(".choice >> text=tawny owl")
    page.keyboard.press("3")
    shows(page, "item 1")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "tawny owl")}


@pytest.mark.parametrize(
    ("button", "sent"), [("Merge it", {"edit": "merge", "to": "owl"}), ("Retire it", {"edit": "retire"})]
)
def test_a_class_that_goes_is_no_longer_offered(
    button: str, sent: dict[str, str], server: ContractServer, visit: Any
) -> None:
    page = visit(server)
    page.keyboard.press("?")
    page.click("[aria-label='Change the class dog']")
    page.select_option("#into", "owl")
    with page.expect_request("**/api/classes") as asked:
        page.click(f"text={button}")
    assert asked.value.post_data_json == {**sent, "name": "dog", "revision": 0}
    page.wait_for_selector("#choices .choice >> text=dog", state="detached")
    press(page, "2", "3")
    shows(page, "item 1")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "owl")}


def test_a_class_is_split_into_its_parts_and_put_under_a_heading(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.keyboard.press("?")
    page.click("[aria-label='Change the class dog']")
    page.fill("#parts", "puppy, old dog")
    with page.expect_request("**/api/classes") as asked:
        page.click("text=Split it")
    assert asked.value.post_data_json == {
        "edit": "split", "name": "dog", "to": ["puppy", "old dog"], "revision": 0,
    }  # fmt: skip
    page.wait_for_selector(".choice >> text=old dog")
    page.keyboard.press("?")
    page.click("[aria-label='Change the class puppy']")
    page.fill("#heading", "dogs")
    page.click("text=Set the heading")
    page.wait_for_selector(".choice .heading >> text=dogs")


def test_none_of_these_is_a_class_that_comes_when_it_is_wanted(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.keyboard.press("+")
    page.click("text=None of these")
    shows(page, "item 1")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "none of these")}


def test_two_tabs_of_one_person_do_not_ask_the_same_item_twice(server: ContractServer, visit: Any) -> None:
    one = visit(server)
    other = visit(server, context=one.context)
    press(one, "1", "1")
    shows(other, "item 2")
    press(other, "2")
    shows(one, "item 3")
    settled(one)
    settled(other)
    assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "cat"), "i2": ("label", "dog")}
    assert len(server.facts) == 3


def test_a_note_goes_with_the_answer(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.keyboard.press(".")
    page.keyboard.type("blurred, 1 of 2")
    press(page, "Enter", "1", "2")
    settled(page)
    assert [fact["note"] for fact in server.facts] == ["blurred, 1 of 2", None]


def test_the_guess_shows_while_alt_is_held_and_marks_the_answer(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.keyboard.down("Alt")
    page.wait_for_selector("text=There is no model yet")
    page.keyboard.up("Alt")
    page.keyboard.press("1")
    shows(page, "item 1")
    server.model = True
    assert page.locator(".why").count() == 0
    page.keyboard.down("Alt")
    page.wait_for_selector(".why .guess")
    assert page.locator(".why .tiles li").count() == 3
    page.keyboard.up("Alt")
    assert page.locator(".why").count() == 0
    press(page, "2", "3")
    settled(page)
    assert [fact["assisted"] for fact in server.facts] == [False, True, False]


def test_what_was_answered_earlier_may_come_late_and_disturbs_nothing(
    server: ContractServer, visit: Any, browser: Any
) -> None:
    press(visit(server), "1")
    context, held = browser.new_context(reduced_motion="reduce"), []
    context.route("**/api/history*", lambda route: held.append(route))
    page = visit(server, context=context)
    page.keyboard.down("Alt")
    page.wait_for_selector("text=There is no model yet")
    with page.expect_response("**/api/history*"):
        held.pop().continue_()
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")
    assert page.locator("text=There is no model yet").is_visible()


def test_keys_are_changed_but_never_to_a_taken_one_or_the_browsers(
    server: ContractServer, visit: Any
) -> None:
    page = visit(server)
    page.keyboard.press("?")
    page.click("[aria-label='Change the key of cat']")
    page.keyboard.press("2")
    page.wait_for_selector("text=This key is taken: dog.")
    page.keyboard.press("F5")
    page.wait_for_selector("text=The browser uses this key itself")
    page.keyboard.press("q")
    page.keyboard.press("Escape")
    press(page, "1", "q")  # the old key does nothing now
    shows(page, "item 1")
    page.reload()
    shows(page, "item 1")
    page.keyboard.press("q")
    shows(page, "item 2")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "cat")}


def test_a_key_held_down_answers_once_and_browser_keys_are_left_alone(
    server: ContractServer, visit: Any
) -> None:
    page = visit(server)
    for _ in range(5):
        page.keyboard.down("1")  # without a release in between it repeats
    page.keyboard.up("1")
    press(page, "Control+1", "Alt+2", "Meta+3")
    shows(page, "item 1")
    settled(page)
    assert len(server.facts) == 1


def test_a_click_answers_and_space_skips_afterwards(server: ContractServer, visit: Any) -> None:
    page = visit(server)
    page.click("text=dog")
    shows(page, "item 1")
    page.keyboard.press("Space")
    shows(page, "item 2")
    page.click("[data-act=undo]")
    shows(page, "item 1")
    settled(page)
    assert server.verdicts() == {"i0": ("label", "dog")}


def test_long_text_is_searched_and_highlighted(visit: Any) -> None:
    text = "The heron stands. " * 300 + "Then the HERON flies."
    with ContractServer(items=[{"name": "long", "text": text}]) as server:
        page = visit(server)
        page.fill("#item-tools input", "heron f")
        page.wait_for_selector("mark")
        assert page.locator("mark").all_text_contents() == ["HERON f"]
        assert page.locator("#stage article").text_content() == text
        assert page.evaluate("() => document.getElementById('stage').scrollTop") > 0


def test_a_picture_is_zoomed_and_moved(visit: Any) -> None:
    with ContractServer(kind="image", items=[{"name": "one.png"}, {"name": "two.png"}]) as server:
        page = visit(server)
        press(page, "]", "]")
        assert page.locator("#item-tools output").text_content() == "225 %"
        page.mouse.move(300, 300)
        page.mouse.down()
        page.mouse.move(350, 320)
        page.mouse.up()
        assert "translate(50px, 20px)" in page.evaluate(
            "() => document.querySelector('#stage img').style.transform"
        )
        page.keyboard.press("1")
        shows(page, "two.png")
        assert page.locator("#item-tools output").text_content() == "100 %"


def test_what_undo_brought_back_is_asked_once_although_the_server_names_it_again(visit: Any) -> None:
    with ContractServer(items=1) as server:
        page = visit(server)
        page.keyboard.press("1")
        page.wait_for_selector("text=Every item is answered")
        before = server.asked
        page.keyboard.press("Backspace")
        shows(page, "item 0")
        until(page, lambda: len(server.facts) == 2 and server.asked > before)
        page.wait_for_timeout(500)  # the reply has come
        page.keyboard.press("2")
        page.wait_for_selector("text=Every item is answered", timeout=10_000)
        assert server.verdicts() == {"i0": ("label", "dog")}

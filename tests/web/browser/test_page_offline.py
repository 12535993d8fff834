"""The page without its server: no answer is lost, none arrives twice, and the page says how it stands."""

from collections import Counter
from typing import Any

from contract_server import ContractServer
from test_page_keys import press, settled, shows

FULL = """() => {
  IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };
}"""


def once(server: ContractServer) -> bool:
    return set(Counter(fact["key"] for fact in server.facts).values()) <= {1}


def test_fifty_answers_wait_while_the_server_is_away_and_arrive_once(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        page.click("text=Load the next 60")
        page.wait_for_selector("text=60 questions are loaded.")
        server.kill()
        for place in range(50):
            shows(page, f"item {place}")
            page.keyboard.press("123"[place % 3])
        page.wait_for_selector("text=Offline, 50 answers wait")
        assert server.facts == []
        server.start()
        settled(page)
        assert [fact["item"] for fact in server.facts] == [f"i{place}" for place in range(50)]
        assert [fact["value"] for fact in server.facts] == [["cat", "dog", "owl"][i % 3] for i in range(50)]
        assert once(server)


def test_answers_survive_a_tab_that_is_closed_while_the_server_is_away(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        server.kill()
        press(page, "1", "2", "Backspace", "3")
        page.wait_for_selector("text=Offline, 4 answers wait")
        page.close()
        server.start()
        page = visit(server, context=page.context)
        settled(page)
        assert [fact["verdict"] for fact in server.facts] == ["label", "label", "retract", "label"]
        assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "owl")}
        shows(page, "item 2")


def test_an_answer_whose_reply_was_lost_is_stored_once(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        lost = []

        def swallow(route: Any) -> None:
            if len(lost) < 2:
                lost.append(route.fetch().status)  # the server stores it, the page never hears
                route.abort()
            else:
                route.continue_()

        page.route("**/api/answers", swallow)
        press(page, "1", "2")
        page.wait_for_selector("#saved[data-mode=offline]")
        settled(page)
        assert lost == [200, 200]
        assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "dog")}
        assert once(server)
        assert server.posts > 2


def test_the_server_killed_in_the_middle_of_work_is_hardly_noticed(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        page.click("text=Load the next 60")  # what is on its way when the server dies does not arrive
        page.wait_for_selector("text=60 questions are loaded.")
        for place in range(24):
            shows(page, f"item {place}")
            if place in (5, 15):
                server.kill()
            if place in (9, 20):
                server.start()
                settled(page)
            page.keyboard.press("1")
        settled(page)
        assert server.verdicts() == {f"i{place}": ("label", "cat") for place in range(24)}
        assert once(server)


def test_when_all_loaded_questions_are_answered_the_page_says_so_and_goes_on(visit: Any) -> None:
    with ContractServer(items=20) as server:
        page = visit(server)
        page.wait_for_function(
            "() => performance.getEntriesByType('resource').some((e) => e.name.includes('questions'))"
        )
        server.kill()
        for place in range(8):
            shows(page, f"item {place}")
            page.keyboard.press("1")
        page.wait_for_selector("text=You have answered every question that was loaded.")
        server.start()
        shows(page, "item 8")
        settled(page)


def test_a_full_storage_is_said_and_the_answers_still_arrive(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        page.evaluate(FULL)
        server.kill()
        press(page, "1", "2")
        page.wait_for_selector("text=This browser's storage is full: 2 answers wait in this tab only.")
        server.start()
        settled(page)
        assert server.verdicts() == {"i0": ("label", "cat"), "i1": ("label", "dog")}
        assert page.locator(".notice").count() == 0


def test_a_refused_answer_is_said_and_holds_up_no_other(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        server.refuse = "i1"
        press(page, "1", "2", "3")
        page.wait_for_selector("text=An answer was refused: item 1 is not in the pool")
        settled(page)
        assert server.verdicts() == {"i0": ("label", "cat"), "i2": ("label", "owl")}
        server.refuse = None
        page.click("text=Send again")
        settled(page)
        assert server.verdicts()["i1"] == ("label", "dog")


def test_a_link_with_a_wrong_token_says_what_to_open(visit: Any) -> None:
    with ContractServer() as server:
        page = visit(server)
        page.goto("about:blank")
        page.goto(server.url.replace("token", "tokem"))
        page.wait_for_selector("text=This link is not valid")
        assert page.evaluate("() => location.hash") == ""

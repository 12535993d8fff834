from page_reading import Page
from sample_content import sample

from askwise.report import Content, Shown
from askwise.report.sections import items

FULL = sample()


def test_questions_come_in_order_and_the_middle_is_folded():
    page = Page(items.asked(FULL))
    assert [a["title"] for a in page.classed("card")] == [item.id for item in FULL.asked]
    assert len(page.all("details")) == 1
    assert "Rounds 4 to 15" in page.text


def test_a_wrong_guess_is_marked_and_counted():
    asked = [
        Shown("a", text="one", guess="cat", label="dog", round=1),
        Shown("b", text="two", guess="dog", label="dog", round=1),
        Shown("c", text="three", guess="dog", round=1),
    ]
    page = Page(items.asked(Content(curves=[], asked=asked)))
    assert [a["title"] for a in page.classed("wrong")] == ["a"]
    assert "wrong about 1 of 2" in page.text


def test_pictures_are_inside_the_page_and_described():
    page = Page(items.unsure(FULL))
    assert len(page.all("img")) == len(FULL.unsure)
    assert all(a["src"].startswith("data:image/png;base64,") for a in page.all("img"))
    assert page.all("img")[0]["alt"] == f"item {FULL.unsure[0].id}, guess {FULL.unsure[0].guess}"


def test_a_long_text_is_cut():
    page = Page(items.unsure(Content(curves=[], unsure=[Shown("a", text="word " * 1000)])))
    assert len(page.text) < 500
    assert "…" in page.text

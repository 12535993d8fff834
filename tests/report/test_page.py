import dataclasses
import re
from importlib.resources import files
from itertools import pairwise

import pytest
from page_reading import Page
from sample_content import curve, sample

from askwise.report import Bin, Calibration, Content, Segment, Shown, Spent, render, write

EVIL = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'\u202e"


def poisoned() -> Content:
    """Every text that somebody else can choose, chosen badly."""
    shown = Shown(EVIL, text=EVIL, score=0.5, guess=EVIL, sure=0.5, label="other", round=1)
    return Content(
        title=EVIL,
        subject=EVIL,
        curves=[curve(EVIL, speed=30, top=0.98), curve("random", speed=60, top=0.96)],
        facts={EVIL: EVIL},
        classes=[EVIL, "other"],
        calibration=[Calibration(1, 20, 0.1, 0.5, 0.2, bins=[Bin(0.5, 0.4, 10)])],
        asked=[shown, dataclasses.replace(shown, text=None, picture=b"<script>")],
        unsure=[dataclasses.replace(shown, text=None)],
        confusion=[[3, 1], [0, 2]],
        recall=[0.75, 1.0],
        balance=[3, 2],
        times=[Spent(1, {EVIL: 1.0})],
        plan={EVIL: {EVIL: EVIL}},
        segments=[Segment(0, {EVIL: EVIL}, changed=[EVIL])],
        made=EVIL,
    )


@pytest.fixture(scope="module", params=["sample", "poisoned"])
def page(request):
    return Page(render(sample() if request.param == "sample" else poisoned()))


def test_nothing_can_run_and_nothing_is_loaded(page):
    assert {name for name, _ in page.elements}.isdisjoint(
        {"script", "iframe", "object", "link", "form", "base"}
    )
    for _, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")]
        assert (attributes.get("src") or "data:").startswith("data:")
        assert (attributes.get("href") or "#").startswith("#")


def test_the_check_above_would_see_a_script():
    careless = render(sample()).replace("Digits", "<script>alert(1)</script>")
    assert "script" in {name for name, _ in Page(careless).elements}


def test_bad_names_are_shown_as_they_are():
    assert "<script>alert(1)</script>" in Page(render(poisoned())).text


def test_the_policy_forbids_all_but_inline_styles_and_pictures(page):
    policy = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == [
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    ]


def test_no_address_is_in_the_file():
    assert "://" not in render(sample())


def test_headings_go_down_one_step_at_a_time(page):
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_links_lead_to_sections(page):
    anchors = [a["id"] for _, a in page.elements if a.get("id")]
    assert len(anchors) == len(set(anchors)) == 9
    assert [a["href"] for a in page.all("a")] == [f"#{anchor}" for anchor in anchors]


def test_every_picture_and_chart_is_described(page):
    assert all(a.get("alt") for a in page.all("img"))
    assert all(a.get("aria-label") for a in page.classed("plot"))


def test_the_language_and_the_width_of_a_phone_are_declared(page):
    assert page.all("html")[0]["lang"] == "en"
    assert "width=device-width" in str(page.all("meta"))


def test_equal_content_gives_equal_pages():
    assert render(sample()) == render(sample())


def test_an_empty_report_is_a_page_too():
    page = Page(render(Content(curves=[])))
    assert "What the network asked" in page.text
    assert not page.all("section")
    assert not page.all("nav")


def test_it_is_written_whole_and_alone(tmp_path):
    path = write(sample(), tmp_path / "deep" / "report.html")
    assert path.read_text(encoding="utf-8") == render(sample())
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_report_and_nothing_else(tmp_path, monkeypatch):
    path = write(Content(curves=[]), tmp_path / "report.html")
    before = path.read_bytes()
    monkeypatch.setattr("askwise.report.page.render", lambda content: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(sample(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_curves_stand_out_from_the_page(scheme):
    style = files("askwise.report").joinpath("style.css").read_text(encoding="utf-8")
    light, dark = style.split("prefers-color-scheme: dark", 1)
    half = light if scheme == "light" else dark.split("* {")[0]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", half))
    for ground in ("page", "panel"):
        assert contrast(colours["ink"], colours[ground]) >= 7
        assert contrast(colours["soft"], colours[ground]) >= 4.5
        for name in ("c-0", "c-1", "c-2", "c-3", "c-4", "c-5", "c-base"):
            assert contrast(colours[name], colours[ground]) >= 3, name

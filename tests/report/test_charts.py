from page_reading import Page

from askwise.report.charts import KINDS, Line, bars, legend, lines, style_class
from askwise.report.figure import axis

X = axis(0, 10, label="labels", write=lambda v: f"{v:g}")
Y = axis(0, 1, label="accuracy", write=lambda v: f"{v:g}")


def test_points_lie_where_the_axes_say():
    page = Page(lines([Line("bald", 0, [0, 10], [0.25, 1.0])], X, Y, alt="a chart"))
    assert page.all("polyline")[0]["points"] == "0.00,75.00 100.00,0.00"
    assert [(s["x"], s["y"]) for s in page.all("svg") if "x" in s] == [
        ("0.00%", "75.00%"),
        ("100.00%", "0.00%"),
    ]


def test_a_band_goes_along_the_top_and_back_along_the_bottom():
    page = Page(lines([Line("bald", 0, [0, 10], [0.5, 0.5], [0.25, 0.25], [0.75, 0.75])], X, Y, alt="a"))
    assert page.all("polygon")[0]["points"] == "0.00,25.00 100.00,25.00 100.00,75.00 0.00,75.00"


def test_a_chart_without_spread_has_no_band():
    assert not Page(lines([Line("bald", 0, [0, 10], [0.5, 0.5])], X, Y, alt="a")).all("polygon")


def test_a_chart_says_in_words_what_it_shows():
    page = Page(lines([Line("bald", 0, [0], [0.5])], X, Y, alt="rises to <90 %"))
    assert {"role": "img", "aria-label": "rises to <90 %", "class": "plot"} in page.all("svg")


def test_long_lines_keep_few_markers():
    page = Page(lines([Line("bald", 0, range(200), [0.5] * 200)], X, Y, alt="a"))
    assert 15 <= len(page.all("path")) <= 30


def test_columns_are_stacked_without_gaps():
    y = axis(0, 4, label="seconds", write=str)
    page = Page(bars([[("train", 1.0, 0), ("score", 3.0, 1)]], X, y, alt="a"))
    low, high = page.all("rect")
    assert (low["y"], low["height"]) == ("75.00%", "25.00%")
    assert (high["y"], high["height"]) == ("0.00%", "75.00%")


def test_curves_differ_in_more_than_colour():
    styles = [style_class(number).split() for number in range(KINDS * KINDS)]
    assert len({tuple(style) for style in styles}) == KINDS * KINDS
    assert len({colour for colour, _ in styles[:KINDS]}) == KINDS
    assert len({dashes for _, dashes in styles[:KINDS]}) == KINDS


def test_names_in_the_legend_are_escaped():
    assert "<b>" not in legend([("<b>", 0)])

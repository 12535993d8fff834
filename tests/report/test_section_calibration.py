import dataclasses

from page_reading import Page
from sample_content import sample

from askwise.report import Content
from askwise.report.sections import calibration

FULL = sample()


def test_four_rounds_of_many_have_a_diagram_and_all_a_row():
    page = Page(calibration.calibration(FULL))
    assert len(page.classed("square")) == 4
    assert len(page.all("tr")) == 1 + len(FULL.calibration)
    assert "Round 0, 20 labels" in page.text
    assert "Round 18, 200 labels" in page.text


def test_metrics_need_no_bins():
    plain = tuple(dataclasses.replace(c, bins=()) for c in FULL.calibration)
    page = Page(calibration.calibration(Content(curves=[], calibration=plain)))
    assert not page.classed("square")
    assert len(page.classed("small")) == 3

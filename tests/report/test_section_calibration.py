import dataclasses

from page_reading import Page
from sample_content import sample

from askwise.report import Bin, Calibration, Content
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


def test_bins_of_few_items_are_pale_and_not_joined():
    bins = (Bin(0.3, 1.0, 4), Bin(0.6, 0.5, 5), Bin(0.9, 0.9, 50))
    one = Calibration(1, 20, 0.1, 0.5, 0.2, bins=bins)
    written = calibration.calibration(Content(curves=[], calibration=[one]))
    assert 'points="60.00,50.00 90.00,10.00"' in written
    assert written.count('opacity="0.4"') == 1

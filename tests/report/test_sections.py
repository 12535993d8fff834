import pytest
from sample_content import sample

from askwise.report import Content
from askwise.report.sections import calibration, classes, items, results, running


@pytest.mark.parametrize(
    "build",
    [
        results.headline, results.curves, calibration.calibration, items.asked, items.unsure,
        classes.confusion, classes.balance, running.times, running.plan,
    ],
)  # fmt: skip
def test_what_is_not_known_has_no_section(build):
    assert build(Content(curves=[])) == ""
    assert build(sample()) != ""

from page_reading import read
from sample_content import sample

from askwise.report import Content, Spent
from askwise.report.sections import running

FULL = sample()


def test_times_are_shown_in_the_unit_that_fits():
    for seconds, unit in ((3.0, "seconds"), (300.0, "minutes"), (30_000.0, "hours")):
        told = read(running.times(Content(curves=[], times=[Spent(1, {"train": seconds})])))
        assert unit in told


def test_no_time_at_all_is_drawn_too():
    assert "0 ms in all" in read(running.times(Content(curves=[], times=[Spent(1, {"train": 0.0})])))


def test_the_plan_is_told_line_by_line_with_its_segments():
    told = read(running.plan(FULL))
    assert "posterior.namebbb" in told
    assert "from round 9threads" in told

from page_reading import Page, read
from sample_content import LABELS

from askwise.report import Content, Curve
from askwise.report.sections import results


def flat(name: str, value: float, seeds: int = 1) -> Curve:
    return Curve(name, tuple(range(seeds)), LABELS, ((value,) * len(LABELS),) * seeds)


def steps(name: str, arrives: int) -> Curve:
    return Curve(name, (0,), LABELS, (tuple(0.96 if count >= arrives else 0.5 for count in LABELS),))


def test_the_headline_compares_the_first_curve_with_the_baseline():
    told = read(results.headline(Content(curves=[steps("random", 160), steps("bald", 80)])))
    assert "Labels saved at 95 %50 %against random" in told
    assert "Labels to 95 %80random: 160" in told


def test_the_headline_falls_back_to_the_target_that_was_reached():
    told = read(results.headline(Content(curves=[flat("bald", 0.92), flat("random", 0.5)])))
    assert "Labels saved at 90 %> 90 %" in told
    assert "Labels to 95 %> 200" in told


def test_without_a_baseline_nothing_is_said_to_be_saved():
    told = read(results.headline(Content(curves=[steps("bald", 80)])))
    assert "saved" not in told
    assert "Labels to 95 %80" in told


def test_equal_accuracy_is_compared_only_where_somebody_had_to_learn_for_it():
    told = read(results.curves(Content(curves=[flat("bald", 0.75), flat("random", 0.75)])))
    assert "Labels saved" not in told


def test_one_seed_is_not_called_a_spread():
    assert "One seed: no spread." in read(results.curves(Content(curves=[flat("bald", 0.5)])))
    assert "mean over 3 seeds" in read(results.curves(Content(curves=[flat("bald", 0.5, seeds=3)])))


def test_the_baseline_has_a_style_of_its_own_wherever_it_stands():
    page = Page(results.curves(Content(curves=[flat("random", 0.5), flat("bald", 0.6)])))
    strokes = [a["class"] for a in page.all("polyline")]
    assert strokes == ["stroke c-base d-base", "stroke c-0 d-0"]

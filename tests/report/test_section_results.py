from page_reading import Page, read
from sample_content import LABELS

from askwise.report import Content, Curve
from askwise.report.sections import results


def flat(name: str, value: float, seeds: int = 1) -> Curve:
    return Curve(name, tuple(range(seeds)), LABELS, ((value,) * len(LABELS),) * seeds)


def steps(name: str, arrives: int) -> Curve:
    return Curve(name, (0,), LABELS, (tuple(0.96 if count >= arrives else 0.5 for count in LABELS),))


def noisy(name: str, height: float, *, gap: float = 0.0, validation: int = 0) -> Curve:
    """Four seeds; they differ in height, and in their gap to other methods."""
    rows = [(height + 0.02 * seed + gap * (-1) ** seed,) * len(LABELS) for seed in range(4)]
    return Curve(name, tuple(range(4)), LABELS, rows, validation=validation)


def test_the_headline_compares_the_first_curve_with_the_baseline():
    told = read(results.headline(Content(curves=[steps("random", 160), steps("bald", 80)])))
    assert "Labels saved at 95 %44 %against random, medians, n = 1" in told
    assert "Labels to 95 %, three rounds in a row100first hit: 80; random: 180" in told


def test_the_first_number_is_the_area_with_its_verdict():
    won = read(results.headline(Content(curves=[noisy("bald", 0.8, gap=0.01), noisy("random", 0.7)])))
    assert won.startswith(
        "Area under the curve to 200 labels83.0 %+10.00 points against random: higher, n = 4"
    )
    open_ = read(results.headline(Content(curves=[noisy("bald", 0.71, gap=0.02), noisy("random", 0.7)])))
    assert "+1.00 points against random: undecided, n = 4" in open_
    alone = read(results.headline(Content(curves=[flat("bald", 0.8), flat("random", 0.7)])))
    assert alone.startswith("Area under the curve to 200 labels80.0 %one seed: no interval")


def test_the_table_of_areas_has_n_the_interval_what_n_could_show_and_a_verdict():
    curves = [noisy("bald", 0.8, gap=0.01), noisy("margin", 0.7, gap=0.02), noisy("random", 0.7)]
    told = read(results.curves(Content(curves=curves)))
    assert "bald483.00 %+10.00+8.16 to +11.84< 0.001" in told  # 1.84 = 3.182 x 1.155 / 2
    assert "higher" in told
    assert "margin473.00 %0.00−3.67 to +3.671.000" in told
    assert "undecided" in told
    assert "random473.00 %–––––" in told
    fewer = Curve("bald", (0, 1), LABELS, noisy("bald", 0.8).values[:2])
    assert "random4 (2 paired)" in read(
        results.curves(Content(curves=[fewer, noisy("random", 0.7)], baseline="bald"))
    )
    single = read(results.curves(Content(curves=[noisy("bald", 0.8)])))
    assert "verdict" not in single


def test_both_ways_to_reach_a_target_are_named_with_n():
    told = read(results.curves(Content(curves=[steps("bald", 80)])))
    assert "nlabels to 90 %, three rounds in a rowfirst hit of 90 %" in told
    assert "bald110080100" in told  # one seed; 100 and 80 labels, twice
    assert "validation" not in told


def test_labels_for_validation_are_in_every_total_and_named():
    content = Content(curves=[noisy("bald", 0.93, validation=1000)])
    told = read(results.headline(content)) + read(results.curves(content))
    assert "Labels to 90 %, three rounds in a row1,040first hit: 1,020" in told
    assert "Accuracy at 200 labels + 1,000 for validation" in told
    assert "All totals count the labels for validation (1,000) too." in told
    assert "labels (and 1,000 for validation)" in told


def test_the_headline_falls_back_to_the_target_that_was_reached():
    told = read(results.headline(Content(curves=[flat("bald", 0.92), flat("random", 0.5)])))
    assert "Labels saved at 90 %> 80 %" in told
    assert "Labels to 95 %, three rounds in a row> 200" in told


def test_without_a_baseline_nothing_is_said_to_be_saved():
    told = read(results.headline(Content(curves=[steps("bald", 80)])))
    assert "saved" not in told
    assert "Labels to 95 %, three rounds in a row100first hit: 80" in told


def test_equal_accuracy_is_compared_only_where_somebody_had_to_learn_for_it():
    told = read(results.curves(Content(curves=[flat("bald", 0.75), flat("random", 0.75)])))
    assert "Labels saved" not in told


def test_one_seed_is_not_called_a_spread():
    assert "One seed (n = 1): no spread." in read(results.curves(Content(curves=[flat("bald", 0.5)])))
    assert "mean over the seeds (n = 3)" in read(results.curves(Content(curves=[flat("bald", 0.5, seeds=3)])))


def test_the_baseline_has_a_style_of_its_own_wherever_it_stands():
    page = Page(results.curves(Content(curves=[flat("random", 0.5), flat("bald", 0.6)])))
    strokes = [a["class"] for a in page.all("polyline")]
    assert strokes == ["stroke c-base d-base", "stroke c-0 d-0"]

from statistics import fmean

import numpy as np
import pytest

from askwise.math.paired import difference, holm
from askwise.report.content import Curve
from askwise.report.curves import area
from askwise.report.gaps import gaps

LABELS = [20, 30, 50]
SEEDS = tuple(range(10))


def curve(name, height, *, noise=0.0, seeds=SEEDS, labels=LABELS):
    """Each seed lifts all methods alike; noise is the method's own."""
    lift = {seed: 0.1 * np.random.default_rng(seed).random() for seed in range(50)}
    own = np.random.default_rng(len(name))
    rows = [[min(1, height + lift[s] + noise * own.normal()) for _ in labels] for s in seeds]
    return Curve(name, seeds, labels, rows)


def test_it_is_the_paired_difference_of_areas_with_holm_over_the_table():
    curves = [curve("random", 0.5), curve("bald", 0.53, noise=0.01), curve("margin", 0.5, noise=0.01)]
    found = gaps(curves)
    assert found.budget == 50
    areas = {c.name: [area(LABELS, row, budget=50) for row in c.values] for c in curves}
    wanted = {name: difference(areas[name], areas["random"]) for name in ("bald", "margin")}
    adjusted = dict(zip(wanted, holm([one.p for one in wanted.values()]), strict=True))
    for name, one in wanted.items():
        assert found.methods[name].difference == one
        assert found.methods[name].adjusted_p == adjusted[name]
        assert found.methods[name].area == pytest.approx(fmean(areas[name]))
    assert found.methods["bald"].verdict == "higher"
    assert found.methods["margin"].verdict == "undecided"
    base = found.methods["random"]
    assert (base.n, base.difference, base.verdict, base.why) == (10, None, None, "")


def test_seeds_are_paired_by_their_number_and_not_by_their_place():
    random, bald = curve("random", 0.5), curve("bald", 0.53)
    turned = Curve("bald", SEEDS[::-1], LABELS, bald.values[::-1])
    straight, mixed = (gaps([random, c]).methods["bald"].difference for c in (bald, turned))
    assert mixed == straight
    wrong = Curve("bald", SEEDS, LABELS, bald.values[::-1])  # the control: rows under other seeds
    assert gaps([random, wrong]).methods["bald"].difference.high > 10 * straight.high - 9 * straight.mean


def test_only_seeds_that_both_have_are_paired():
    found = gaps([curve("random", 0.5, seeds=(0, 1, 2)), curve("bald", 0.6, seeds=(2, 0, 7))]).methods["bald"]
    assert (found.n, found.difference.n) == (3, 2)
    assert found.difference.mean == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("seeds", "why"), [((0,), "one seed: no interval"), ((11, 12), "no seed in common with random")]
)
def test_without_two_seeds_in_common_there_is_no_difference_and_it_says_so(seeds, why):
    found = gaps([curve("random", 0.5), curve("bald", 0.6, seeds=seeds)]).methods["bald"]
    assert (found.difference, found.adjusted_p, found.verdict, found.why) == (None, None, None, why)
    assert found.area is not None


def test_all_curves_are_cut_at_the_labels_that_all_have_reached():
    short = curve("bald", 0.6, labels=[20, 30])
    found = gaps([curve("random", 0.5), short])
    assert found.budget == 30
    assert found.methods["bald"].difference.mean == pytest.approx(0.1)


def test_curves_that_start_elsewhere_are_not_compared():
    found = gaps([curve("random", 0.5), curve("bald", 0.6, labels=[10, 50])]).methods["bald"]
    assert found.why == "not compared: random has 20 to 50 labels, and this 10 to 50 labels"
    late = gaps([curve("random", 0.5, labels=[20, 30]), curve("bald", 0.6, labels=[40, 50])]).methods["bald"]
    assert (late.area, late.why) == (None, "has no curve to 30 labels")


def test_without_a_baseline_there_are_areas_alone():
    found = gaps([curve("bald", 0.6)])
    assert (found.methods["bald"].difference, found.methods["bald"].why) == (None, "")
    assert gaps([]).methods == {}

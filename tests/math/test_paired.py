import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from askwise.errors import InputError
from askwise.math.paired import Difference, difference, holm, verdict

OURS, BASELINE = [0.91, 0.93, 0.90, 0.95, 0.92], [0.90, 0.90, 0.90, 0.91, 0.90]


def test_five_pairs_worked_by_hand():
    """Differences .01 .03 .00 .04 .02: mean .02, sd sqrt(.001 / 4), t = 2 sqrt(2) with 4 degrees."""
    found = difference(OURS, BASELINE)
    error = math.sqrt(0.001 / 4 / 5)
    assert found.n == 5
    assert found.mean == pytest.approx(0.02)
    assert found.low == pytest.approx(0.02 - 2.776445 * error, rel=1e-5)  # Student's table, 4 degrees
    assert found.high == pytest.approx(0.02 + 2.776445 * error, rel=1e-5)
    assert found.p == pytest.approx(0.047421, rel=1e-4)  # 1 - t (6 + t^2) / (4 + t^2)^(3/2), closed form


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=30), st.floats(0.5, 0.99))
def test_interval_and_p_are_those_of_scipy(pairs, confidence):
    ours, baseline = zip(*pairs, strict=True)
    gaps = np.subtract(ours, baseline)
    if np.ptp(gaps) < 1e-6:
        return
    found, theirs = difference(ours, baseline, confidence=confidence), stats.ttest_rel(ours, baseline)
    low, high = theirs.confidence_interval(confidence)
    assert (found.low, found.high) == (pytest.approx(low, rel=1e-6), pytest.approx(high, rel=1e-6))
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-6)


@pytest.mark.parametrize("n", [5, 20])
def test_a_gap_of_the_detectable_size_is_found_in_80_percent_of_cases(n):
    rng = np.random.default_rng(0)
    scale = difference(gaps := rng.normal(size=n).tolist(), [0.0] * n).detectable / np.std(gaps, ddof=1)
    drawn = rng.normal(loc=scale, size=(100_000, n))  # a true gap of `scale` standard deviations
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * math.sqrt(n)
    assert np.mean(t > stats.t.ppf(0.975, n - 1)) == pytest.approx(0.8, abs=0.005)


def test_more_seeds_could_have_shown_a_smaller_gap():
    few = difference(OURS, BASELINE).detectable
    assert difference(OURS * 4, BASELINE * 4).detectable < few / 2


def test_pairing_is_what_makes_the_interval_narrow():
    shift = [0.0, 10.0, -10.0, 5.0, -5.0]  # what a seed does to both methods alike
    paired = difference(
        [a + s for a, s in zip(OURS, shift, strict=True)],
        [b + s for b, s in zip(BASELINE, shift, strict=True)],
    )
    assert paired.high == pytest.approx(difference(OURS, BASELINE).high)
    mixed = difference([a + s for a, s in zip(OURS, shift, strict=True)], BASELINE)  # the control
    assert mixed.high - mixed.low > 100 * (paired.high - paired.low)


@pytest.mark.parametrize(
    ("ours", "baseline", "mean", "p"),
    [
        ([0.9, 0.8], [0.9, 0.8], 0.0, 1.0),
        ([0.75, 0.5, 0.25], [0.5, 0.25, 0.0], 0.25, 0.25),
        ([0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], 0.0, 1.0),  # both are .3, one rounding apart
        ([0.4, 0.7], [0.3, 0.6], 0.1, 0.5),
    ],
    ids=["equal", "shifted", "equal but for rounding", "shifted but for rounding"],
)
def test_without_variance_the_interval_has_no_width(ours, baseline, mean, p):
    found = difference(ours, baseline)
    assert found.mean == pytest.approx(mean)
    assert (found.low, found.high, found.p, found.detectable) == (found.mean, found.mean, p, 0.0)


@pytest.mark.parametrize(("n", "most"), [(2, 0.0), (3, 0.0), (5, 0.05)])
def test_coarse_values_that_differ_by_chance_are_seldom_called_different(n, most):
    signs = np.random.default_rng(0).choice([-10.0, 10.0], size=(400, n))
    found = [difference(gaps.tolist(), [0.0] * n) for gaps in signs]
    assert np.mean([verdict(one, one.p) != "undecided" for one in found]) <= most
    assert any(one.low == one.high for one in found), "some pairs must all differ by the same"


@pytest.mark.parametrize(
    ("ours", "baseline", "confidence", "said"),
    [
        ([0.9], [0.8], 0.95, "needs at least 2 of them, not 1; run more seeds"),
        ([0.9, 0.8], [0.8], 0.95, "not 2 and 1"),
        ([0.9, math.nan], [0.8, 0.7], 0.95, "finite values"),
        ([0.9, math.inf], [0.8, math.inf], 0.95, "finite values"),
        ([0.9, 0.8], [0.8, 0.8], 95.0, "between 0 and 1, not 95.0"),
    ],
)
def test_what_cannot_be_paired_is_refused(ours, baseline, confidence, said):
    with pytest.raises(InputError, match=said):
        difference(ours, baseline, confidence=confidence)


def test_holm_worked_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_decides_as_its_steps_do(p):
    """Reject the smallest while it is at most .05 / (how many are left); stop at the first that is not."""
    left, rejected = sorted(range(len(p)), key=p.__getitem__), set()
    while left and p[left[0]] <= 0.05 / len(left):
        rejected.add(left.pop(0))
    adjusted = holm(p)
    assert {place for place, value in enumerate(adjusted) if value <= 0.05} == rejected
    assert all(a >= raw for a, raw in zip(adjusted, p, strict=True))


def test_no_p_value_outside_0_to_1():
    with pytest.raises(InputError, match="between 0 and 1"):
        holm([0.2, 1.2])


def gap(low, high):
    mean = (low + high) / 2
    return Difference(n=5, mean=mean, low=low, high=high, p=0.01, detectable=0.1, confidence=0.95)


@pytest.mark.parametrize(
    ("low", "high", "adjusted", "said"),
    [
        (0.01, 0.03, 0.05, "higher"),
        (-0.03, -0.01, 0.05, "lower"),
        (0.01, 0.03, 0.051, "undecided"),
        (-0.01, 0.03, 0.01, "undecided"),
        (0.0, 0.03, 0.01, "undecided"),
    ],
)
def test_the_verdict_needs_both_the_interval_and_holm(low, high, adjusted, said):
    assert verdict(gap(low, high), adjusted) == said


def test_of_tables_without_a_difference_five_percent_have_a_false_verdict():
    """Five methods against one baseline, ten seeds, nothing but noise; raw p-values are the control."""
    rng, tables = np.random.default_rng(0), 1000
    corrected = raw = 0
    for _ in range(tables):
        baseline, *methods = rng.normal(size=(6, 10)).tolist()
        found = [difference(method, baseline) for method in methods]
        p = [one.p for one in found]
        corrected += any(verdict(d, a) != "undecided" for d, a in zip(found, holm(p), strict=True))
        raw += any(verdict(d, a) != "undecided" for d, a in zip(found, p, strict=True))
    assert corrected / tables < 0.06
    assert raw / tables > 0.1


def test_a_bootstrap_of_five_seeds_is_wrong_three_times_as_often_as_the_t_interval():
    rng, tables = np.random.default_rng(0), 1000
    resampled = rng.integers(5, size=(1000, 5))
    by_t = by_bootstrap = 0
    for gaps in rng.normal(size=(tables, 5)):
        found = difference(gaps.tolist(), [0.0] * 5)
        by_t += not found.low <= 0 <= found.high
        low, high = np.quantile(gaps[resampled].mean(axis=1), [0.025, 0.975])
        by_bootstrap += not low <= 0 <= high
    assert by_t / tables == pytest.approx(0.05, abs=0.02)
    assert by_bootstrap / tables > 3 * 0.05


def test_scipy_is_not_imported_before_it_is_needed():
    code = "import sys, askwise.math.paired; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

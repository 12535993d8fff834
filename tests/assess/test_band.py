"""The accuracy band: hand-worked limits, exact coverage on small regions, the naive interval as control."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from askwise.assess import band
from askwise.assess.band import ABOVE, BELOW, STRICTER, Spread, readings
from askwise.errors import InputError
from askwise.math.betting import log_capital
from askwise.seeding import generator

ALPHA = 0.05


def flags(*values):
    return torch.tensor(values, dtype=torch.bool)


def wrongs(count, of):
    return torch.arange(of) < count


def invented(n=40, size=200, seed=0):
    """A calibrated model: wrong, uncertainty of the test items, uncertainty of the region."""
    rng = generator(seed, "band")
    region = torch.rand(size, generator=rng) ** 3
    wrong = torch.rand(size, generator=rng) < region
    chosen = torch.randperm(size, generator=rng)[:n]
    return wrong[chosen], region[chosen], region


def test_ten_right_answers_give_the_limit_that_one_equation_has():
    found = band(wrongs(0, 10))
    m = 1 - found.low
    capital = sum((1 + share * m / (1 - m)) ** 10 for share in BELOW) / len(BELOW)
    assert capital == pytest.approx(2 / ALPHA)
    assert (found.high, found.share, found.answers, found.skipped) == (1, 1, 10, 0)


def test_the_upper_limit_solves_its_equation_too():
    m = 1 - band(wrongs(3, 20)).high
    capital = sum((1 - share) ** 17 * (1 + share * (1 - m) / m) ** 3 for share in ABOVE) / len(ABOVE)
    assert capital == pytest.approx(2 / ALPHA)


def test_with_uncertainty_both_limits_solve_the_designs_equations():
    wrong, unsure, region = invented()
    found = band(wrong, unsure, region)
    w, u, r = wrong.double().tolist(), unsure.double().tolist(), region.double().tolist()
    centre = sum(r) / len(r)
    for m, shares, sign in ((1 - found.low, BELOW, -1), (1 - found.high, ABOVE, 1)):
        capital = 0.0
        for c in (0, 1):
            z = [a + c * (centre - b) for a, b in zip(w, u, strict=True)]
            room = 1 + c * (centre - min(r)) - m if sign < 0 else m - c * (centre - max(r))
            capital += sum(math.prod(1 + sign * share * (one - m) / room for one in z) for share in shares)
        assert capital / 10 == pytest.approx(2 / ALPHA)


def misses_of_all_orders(wrong, unsure, *, replaced, looks, alpha):
    """The exact share of sequences in which the band misses the region's error at any look."""
    size = len(wrong)
    if replaced:
        orders = torch.tensor(list(itertools.product(range(size), repeat=looks)))
    else:
        orders = torch.tensor(list(itertools.permutations(range(size), looks)))
    region = unsure.expand(len(orders), size)
    truth = torch.full((len(orders),), wrong.mean().item(), dtype=torch.float64)
    missed = torch.zeros(len(orders), dtype=torch.bool)
    for n in range(1, looks + 1):
        drawn = orders[:, :n]
        both, low, high = readings(wrong[drawn], unsure[drawn], Spread.of(region))
        for edge, shares in ((high, BELOW), (low, ABOVE)):
            missed |= log_capital(both, truth, edge, shares) >= math.log(2 / alpha)
    return missed.double().mean().item()


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize("pattern", list(range(1, 6)))
def test_coverage_over_all_orders_of_a_region_of_six_is_exact(pattern, replaced):
    unsure = torch.tensor([0.0, 0.1, 0.2, 0.4, 0.6, 0.7], dtype=torch.float64)
    wrong = (torch.arange(6) >= 6 - pattern).double()
    for alpha in (0.05, 0.2, 0.5):
        looks = 5 if replaced else 6
        assert misses_of_all_orders(wrong, unsure, replaced=replaced, looks=looks, alpha=alpha) <= alpha


def test_the_enumeration_sees_misses_where_there_are_some():
    unsure = torch.full((6,), 0.3, dtype=torch.float64)
    wrong = flags(0, 0, 0, 0, 0, 1).double()
    assert misses_of_all_orders(wrong, unsure, replaced=True, looks=5, alpha=0.9) > 0


def ever_excluded(m, looks, excluded):
    """The exact chance that an interval of k wrong of n misses m at any look from ten to the last."""
    alive = {0: 1.0}
    for n in range(1, looks + 1):
        new: dict[int, float] = {}
        for k, chance in alive.items():
            new[k] = new.get(k, 0.0) + chance * (1 - m)
            new[k + 1] = new.get(k + 1, 0.0) + chance * m
        alive = {k: chance for k, chance in new.items() if n < 10 or not excluded(k, n)}
    return 1 - sum(alive.values())


@pytest.mark.parametrize("m", [0.05, 0.3])
def test_two_hundred_looks_miss_in_at_most_five_percent_where_the_ordinary_interval_misses_in_many(m):
    def by_band(k, n):
        return _betting(k, n, m) >= 2 / ALPHA

    def by_clopper_pearson(k, n):
        low, high = stats.binom.cdf(k, n, m), stats.binom.sf(k - 1, n, m)
        return min(low, high) < ALPHA / 2

    assert ever_excluded(m, 200, by_band) <= ALPHA
    assert ever_excluded(m, 200, by_clopper_pearson) > 0.15


def _betting(k, n, m):
    below = sum((1 - s) ** k * (1 + s * m / (1 - m)) ** (n - k) for s in BELOW) / len(BELOW)
    above = sum((1 - s) ** (n - k) * (1 + s * (1 - m) / m) ** k for s in ABOVE) / len(ABOVE)
    return max(below, above)


def test_the_models_uncertainty_narrows_the_band_of_a_calibrated_model():
    widths = [[], []]
    for seed in range(20):
        wrong, unsure, region = invented(n=60, size=1000, seed=seed)
        for kept, found in zip(widths, (band(wrong, unsure, region), band(wrong)), strict=True):
            kept.append(found.high - found.low)
    assert sum(widths[0]) < sum(widths[1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=10, max_size=40), st.randoms())
def test_a_band_holds_the_share_and_does_not_depend_on_the_order(answers, random):
    found = band(torch.tensor(answers))
    assert 0 <= found.low <= found.share <= found.high <= 1
    random.shuffle(answers)
    again = band(torch.tensor(answers))
    assert (again.low, again.high) == pytest.approx((found.low, found.high))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 19), st.floats(0.01, 0.4))
def test_more_errors_lower_both_limits_and_a_smaller_alpha_widens(count, alpha):
    found, worse = band(wrongs(count, 20), alpha=alpha), band(wrongs(count + 1, 20), alpha=alpha)
    assert worse.low <= found.low
    assert worse.high <= found.high
    wider = band(wrongs(count, 20), alpha=alpha / 2)
    assert wider.low <= found.low
    assert found.high <= wider.high


def test_a_stop_rule_gets_an_eighth_of_alpha():
    wrong, unsure, region = invented()
    strict = band(wrong, unsure, region, stopping=True)
    assert strict == band(wrong, unsure, region, alpha=ALPHA / STRICTER)


def test_a_skipped_item_is_wrong_in_the_lower_limit_and_right_in_the_upper_one():
    wrong, skipped = wrongs(3, 30), torch.arange(30) >= 28
    found = band(wrong, skipped=skipped)
    assert found.low == band(wrong | skipped).low
    assert found.high == band(wrong).high
    assert found.skipped == pytest.approx(2 / 30)
    assert found.share == pytest.approx(25 / 28)


def test_groups_count_once_and_a_band_of_single_items_is_the_plain_one():
    wrong, unsure, region = invented(n=30, size=60)
    names = [f"slide {i}" for i in range(60)]
    place = [int((region == one).nonzero()[0]) for one in unsure]
    alone = band(wrong, unsure, region, groups=[names[i] for i in place], region_groups=names)
    plain = band(wrong, unsure, region)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high))
    twice = band(
        wrong.repeat_interleave(2),
        unsure.repeat_interleave(2),
        region.repeat_interleave(2),
        groups=[names[i] for i in place for _ in range(2)],
        region_groups=[name for name in names for _ in range(2)],
    )
    assert (twice.groups, twice.answers) == (30, 60)
    assert (twice.low, twice.high) == pytest.approx((plain.low, plain.high))


def test_beside_a_band_of_groups_stand_the_shares_of_groups():
    sizes, bad = [3] * 15 + [40] * 3, [0] * 15 + [34] * 3  # three large groups in which most is wrong
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    wrong = torch.tensor([at < most for size, most in zip(sizes, bad, strict=True) for at in range(size)])
    skipped = torch.tensor([group in (0, 1, 17) for group in groups])
    found = band(wrong, groups=groups)
    assert found.low <= found.share <= found.high
    assert found.share == pytest.approx((15 + 3 * 6 / 40) / 18)
    assert not found.low <= 1 - float(wrong.double().mean()) <= found.high  # the control: over items
    some = band(wrong, groups=groups, skipped=skipped)
    assert some.share == pytest.approx((13 + 2 * 6 / 40) / 15)
    assert some.skipped == pytest.approx(3 / 18)
    assert (some.groups, some.answers) == (18, 13 * 3 + 2 * 40)


def test_of_skipped_items_alone_no_share_is_told():
    found = band(torch.zeros(12, dtype=torch.bool), skipped=torch.ones(12, dtype=torch.bool))
    assert (found.low, found.high, found.answers, found.skipped) == (pytest.approx(0), 1, 0, 1)
    assert math.isnan(found.share)


def test_groups_that_err_as_a_whole_make_the_band_wider_than_their_items_would():
    groups = [i // 10 for i in range(120)]
    wrong = torch.tensor([g % 4 == 0 for g in groups])
    assert band(wrong, groups=groups).low < band(wrong).low - 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha must lie between 0 and 1, both excluded, not 0"),
        ({"alpha": 1.0}, "alpha must lie between 0 and 1"),
        ({"wrong": wrongs(0, 7)}, "a band needs at least 10 test answers, and there are 7; answer 3 more"),
        ({"uncertainty": torch.rand(20)}, "give the uncertainty of the test items and of the whole region"),
        ({"groups": [1] * 20}, "a band needs at least 10 groups with test answers, and there are 1"),
        ({"region_groups": [1]}, "region_groups are given without the groups of the test items"),
        (
            {"uncertainty": torch.full((20,), torch.nan), "region_uncertainty": torch.rand(50)},
            "uncertainty must be finite, and contains NaN or infinity",
        ),
        (
            {"uncertainty": torch.full((20,), 1.5), "region_uncertainty": torch.rand(50)},
            r"uncertainty must lie in \[0, 1\], and holds values from 1.5 to 1.5",
        ),
        (
            {"uncertainty": torch.rand(20), "region_uncertainty": torch.rand(15)},
            "the region is too small: 15 items for 20 test answers, and it needs at least 20",
        ),
        (
            {"uncertainty": torch.full((20,), 0.9), "region_uncertainty": torch.full((50,), 0.1)},
            "a test item is more or less uncertain than all of the region",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(change, message):
    arguments = {"wrong": wrongs(2, 20), **change}
    with pytest.raises(InputError, match=message) as told:
        band(arguments.pop("wrong"), **arguments)
    assert "\n" not in str(told.value)


def test_a_group_that_the_region_lacks_is_refused():
    with pytest.raises(InputError, match="the region has no group 'b'"):
        band(
            wrongs(1, 10),
            torch.full((10,), 0.1),
            torch.full((10,), 0.1),
            groups=["b"] * 10,
            region_groups=["a"] * 10,
        )

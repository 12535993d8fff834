"""The share of a class: exact coverage over all orders of a small pool; predictions help or do no harm."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.assess import estimate as module
from askwise.assess import group_prevalence, prevalence
from askwise.errors import InputError
from askwise.seeding import generator


def invented(n=100, size=1000, seed=0, *, sharp=6.0):
    """Answers, their probabilities, the pool's, and the true share."""
    rng = generator(seed, "estimate")
    truth = torch.rand(size, generator=rng) < 0.3
    noise = torch.randn(size, generator=rng)
    probs = torch.sigmoid(sharp * (truth.double() - 0.5) + noise)
    drawn = torch.randperm(size, generator=rng)[:n]
    return truth[drawn], probs[drawn], probs, float(truth.double().mean())


@pytest.mark.parametrize("pattern", [(1, 0, 0, 0, 0, 0), (1, 1, 0, 1, 0, 0)])
def test_coverage_over_all_orders_of_a_pool_of_six_is_exact(pattern, monkeypatch):
    monkeypatch.setattr(module, "LEAST", 1)
    truth = torch.tensor(pattern, dtype=torch.bool)
    probs = torch.tensor([0.9, 0.2, 0.1, 0.6, 0.3, 0.0], dtype=torch.float64)
    missed, orders = 0, list(itertools.permutations(range(6), 3))
    for order in orders:
        drawn = list(order)
        found = prevalence(truth[drawn], probs[drawn], probs, alpha=0.4)
        missed += not found.low - 1e-9 <= sum(pattern) / 6 <= found.high + 1e-9
    assert missed / len(orders) <= 0.4


def test_the_whole_pool_leaves_nothing_uncertain():
    truth, probs, _, _ = invented(n=50, size=50)
    found = prevalence(truth, probs, probs)
    assert found.low == pytest.approx(found.high) == pytest.approx(float(truth.double().mean()))


def test_good_predictions_narrow_the_interval_and_random_ones_hardly_widen_it():
    widths = {"good": 0.0, "none": 0.0, "random": 0.0}
    for seed in range(15):
        answers, probs, every, _ = invented(seed=seed)
        noise = torch.rand(len(every), generator=generator(seed, "noise"), dtype=torch.float64)
        for name, f, pool in (
            ("good", probs, every),
            ("none", torch.full_like(probs, 0.3), torch.full_like(every, 0.3)),
            ("random", noise[:100], noise),
        ):
            found = prevalence(answers, f, pool)
            widths[name] += found.high - found.low
    assert widths["good"] < 0.75 * widths["none"]
    assert widths["random"] < 1.1 * widths["none"]


@pytest.mark.slow
@pytest.mark.parametrize("sharp", [6.0, 1.0])
def test_five_percent_or_fewer_of_many_intervals_miss(sharp):
    missed = 0
    for seed in range(400):
        answers, probs, every, truth = invented(seed=seed, sharp=sharp)
        found = prevalence(answers, probs, every)
        missed += not found.low <= truth <= found.high
    assert missed <= 400 * 0.05


@pytest.mark.slow
def test_five_percent_or_fewer_of_many_runs_miss_at_any_of_many_looks():
    missed, looks = 0, range(10, 201, 19)
    for seed in range(150):
        answers, _, _, truth = invented(n=200, seed=seed)
        flat = torch.full((1000,), 0.3, dtype=torch.float64)
        found = [prevalence(answers[:n], flat[:n], flat) for n in looks]
        missed += any(not one.low <= truth <= one.high for one in found)
    assert missed <= 150 * 0.05


def test_an_interval_only_narrows_around_what_more_answers_leave():
    """No bet knows how many answers will come, so what was excluded once stays so."""
    answers, probs, every, _ = invented(n=200)
    found = [prevalence(answers[:n], probs[:n], every) for n in range(10, 201, 10)]
    for before, after in itertools.pairwise(found):
        assert after.low >= before.low - 1e-9
        assert after.high <= before.high + 1e-9


@pytest.mark.parametrize("count", [1, 3])
def test_coverage_over_all_pools_of_four_and_orders_in_them_is_exact_for_the_population_of_seven(
    count, monkeypatch
):
    monkeypatch.setattr(module, "LEAST", 1)
    truth = torch.arange(7) < count
    probs = torch.tensor([0.9, 0.6, 0.3, 0.5, 0.2, 0.1, 0.0], dtype=torch.float64)
    missed = whole = 0
    for pool in itertools.combinations(range(7), 4):
        inside = probs[list(pool)]
        for order in itertools.permutations(pool):
            drawn = list(order)
            found = prevalence(truth[drawn], probs[drawn], inside, alpha=0.4, population=7)
            missed += not found.low - 1e-9 <= count / 7 <= found.high + 1e-9
            whole += 1
    assert missed / whole <= 0.4


def test_an_answered_pool_still_leaves_its_population_uncertain():
    held = taken = 0
    width = floor = 0.0
    for seed in range(60):
        truth, probs, _, share = invented(n=300, seed=seed)
        found = prevalence(truth, probs, probs, population=1000)
        alone = prevalence(truth, probs, probs)
        held += found.low <= share <= found.high
        taken += alone.low <= share <= alone.high
        width, floor = width + found.high - found.low, floor + found.floor
        assert found.more(0.001) == 0
    assert held >= 57
    assert width == pytest.approx(floor, rel=0.15)
    assert taken < 10  # the control: the pool taken for the population


def test_a_width_that_the_pool_cannot_give_takes_all_that_is_left():
    answers, probs, every, _ = invented(n=50, size=300)
    found = prevalence(answers, probs, every, population=10_000)
    assert found.floor > 0.1
    assert found.more(found.floor) == 250
    assert 50 + found.more((found.floor + found.high - found.low) / 2) < 300
    with pytest.raises(InputError, match="a pool of 300 is no sample of a population of 200"):
        prevalence(answers, probs, every, population=200)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 0.3))
def test_an_interval_holds_its_value_and_grows_as_alpha_falls(seed, alpha):
    answers, probs, every, _ = invented(n=40, size=200, seed=seed)
    found, wider = (prevalence(answers, probs, every, alpha=a) for a in (alpha, alpha / 4))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert wider.high - wider.low >= found.high - found.low - 0.02


def test_how_many_more_answers_follow_from_the_width():
    answers, probs, every, _ = invented()
    found = prevalence(answers, probs, every)
    width = found.high - found.low
    assert found.more(width) == 0
    assert found.more(width / 2) == pytest.approx(208, abs=1)  # four times 1/100 - 1/1000 is 1/308 - 1/1000
    assert found.more(1e-6) == 900
    with pytest.raises(InputError, match="a width must be above 0, not 0"):
        found.more(0)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (100, {"alpha": 0}, "alpha must lie between 0 and 1"),
        (9, {}, "an estimate needs at least 10 answers, not 9; answer 1 more"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(n, options, message):
    answers, probs, every, _ = invented(n=n)
    with pytest.raises(InputError, match=message):
        prevalence(answers, probs, every, **options)


def test_more_answers_than_items_and_no_numbers_are_refused():
    answers, probs, every, _ = invented(n=30, size=50)
    with pytest.raises(InputError, match="there are 30 answers for a pool of 20; answers are drawn without"):
        prevalence(answers, probs, every[:20])
    with pytest.raises(InputError, match="pool must be finite, and contains NaN"):
        prevalence(answers, probs, every / 0 * 0)


@pytest.mark.parametrize(("groups", "asked", "low", "high"), [(20, 20, 0.1, 0.9), (100, 30, 0.0, 0.06)])
def test_groups_that_are_met_once_leave_the_mean_of_their_shares_uncertain(groups, asked, low, high):
    held = 0
    for seed in range(60):
        rng = generator(seed, "groups")
        share = low + (high - low) * torch.rand(groups, 1, generator=rng)
        truth = torch.rand(groups, 10, generator=rng) < share
        drawn = torch.randperm(groups, generator=rng)[:asked]
        answers = truth[drawn, torch.randint(10, (asked,), generator=rng)]
        found = group_prevalence(answers, drawn.tolist(), pool=groups)
        held += found.low <= truth.double().mean() <= found.high
        assert found.high - found.low > 0.1
    assert held >= 57


def test_a_class_and_all_others_of_groups_have_mirrored_intervals_and_a_group_counts_once():
    answers, groups = torch.arange(40) % 8 == 0, [number // 2 for number in range(40)]
    found, others = (group_prevalence(one, groups, pool=30) for one in (answers, ~answers))
    assert (found.low, found.high) == pytest.approx((1 - others.high, 1 - others.low))
    assert found.answers == 20
    assert found.value == pytest.approx(1 / 8)
    assert found.more(0.001) == 10
    with pytest.raises(InputError, match="an estimate needs at least 10 answers, not 5"):
        group_prevalence(answers[:10], groups[:10], pool=30)

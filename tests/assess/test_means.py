"""Means over a pool: t intervals as scipy has them, the tuned weight, strata and groups."""

import pytest
import torch
from scipy import stats

from askwise.assess import mean, stratified
from askwise.errors import InputError
from askwise.seeding import generator


def numbers(n=60, size=600, seed=0):
    rng = generator(seed, "means")
    truth = torch.randn(size, generator=rng, dtype=torch.float64)
    predicted = truth + 0.3 * torch.randn(size, generator=rng, dtype=torch.float64) + 0.5  # biased
    return truth[:n], predicted[:n], predicted, truth


def test_useless_predictions_give_the_ordinary_t_interval_of_a_finite_pool():
    answers, _, _, _ = numbers()
    flat = torch.zeros(600, dtype=torch.float64)
    found = mean(answers, flat[:60], flat)
    error = stats.sem(answers.numpy()) * (1 - 60 / 600) ** 0.5
    low, high = stats.t.interval(0.95, 59, loc=answers.mean().item(), scale=error)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.weight == 0


def test_the_weight_is_the_slope_of_answers_on_predictions_and_bias_does_not_matter():
    answers, predicted, pool, truth = numbers()
    found = mean(answers, predicted, pool)
    slope = stats.linregress(predicted.numpy(), answers.numpy()).slope
    assert found.weight == pytest.approx(slope)
    shifted = mean(answers, predicted + 7, pool + 7)
    assert (shifted.low, shifted.high) == pytest.approx((found.low, found.high))
    assert found.low < truth.mean() < found.high
    assert found.high - found.low < 0.5 * (lambda f: f.high - f.low)(mean(answers, 0 * predicted, 0 * pool))


def test_the_weight_costs_a_degree_of_freedom_as_the_slope_of_a_regression_does():
    answers, predicted, pool, _ = numbers(n=12, size=600)
    found = mean(answers, predicted, pool)
    fit = stats.linregress(predicted.numpy(), answers.numpy())
    left = (answers - fit.intercept - fit.slope * predicted).square().sum().item() / 10
    half = stats.t.ppf(0.975, 10) * (left / 12 * (1 - 12 / 600)) ** 0.5
    assert (found.high - found.low) / 2 == pytest.approx(half)


def test_a_pool_that_is_a_sample_adds_what_it_may_hold_by_chance():
    answers, predicted, pool, _ = numbers(n=60, size=200)
    whole, part = mean(answers, predicted, pool, population=1000), mean(answers, predicted, pool)
    fit = stats.linregress(predicted.numpy(), answers.numpy())
    left = (answers - fit.intercept - fit.slope * predicted).square().sum().item() / 58
    variance = left * (1 / 60 - 1 / 200) + answers.var().item() * (1 / 200 - 1 / 1000)
    assert (whole.high - whole.low) / 2 == pytest.approx(stats.t.ppf(0.975, 58) * variance**0.5)
    assert whole.value == pytest.approx(part.value)
    assert part.floor == 0 < whole.floor < whole.high - whole.low
    assert whole.more(whole.floor) == 140


def test_an_answered_sample_does_not_settle_the_mean_of_its_population():
    held = 0
    for seed in range(200):
        answers, predicted, pool, truth = numbers(n=300, size=1000, seed=seed)
        found = mean(answers, predicted, pool[:300], population=1000)
        held += found.low <= truth.mean() <= found.high
    assert 0.9 <= held / 200 <= 0.99


def test_groups_count_once():
    answers, predicted, pool, _ = numbers()
    single = mean(answers, predicted, pool)
    names = list(range(600))
    twice = mean(
        answers.repeat_interleave(2),
        predicted.repeat_interleave(2),
        pool.repeat_interleave(2),
        groups=[i for i in names[:60] for _ in range(2)],
        pool_groups=[i for i in names for _ in range(2)],
    )
    assert twice.answers == 60
    wider = ((twice.high - twice.low) / (single.high - single.low)) ** 2
    assert wider == pytest.approx(1 / (1 - 60 / 600))  # no finite correction: a group's items vary


def test_one_answer_from_every_group_does_not_settle_the_mean():
    held = 0
    for seed in range(150):
        rng = generator(seed, "every group")
        share = 0.1 + 0.8 * torch.rand(20, 1, generator=rng, dtype=torch.float64)
        truth = (torch.rand(20, 50, generator=rng) < share).double()
        item = torch.randint(50, (20,), generator=rng)
        names = [group for group in range(20) for _ in range(50)]
        flat = torch.zeros(1000, dtype=torch.float64)
        answers = truth[torch.arange(20), item]
        found = mean(answers, flat[:20], flat, groups=range(20), pool_groups=names)
        held += found.low <= truth.mean() <= found.high
    assert held / 150 >= 0.9


def test_strata_are_weighted_by_their_size_in_the_pool_not_among_the_answers():
    answers = torch.tensor([1.0, 2.0] * 10 + [10.0, 12.0] * 5, dtype=torch.float64)
    flat = torch.zeros(400, dtype=torch.float64)
    strata, pool_strata = ["a"] * 20 + ["b"] * 10, ["a"] * 100 + ["b"] * 300
    whole, each = stratified(answers, flat[:30], strata, flat, pool_strata)
    assert whole.value == pytest.approx(0.25 * 1.5 + 0.75 * 11)
    assert each["a"].value == pytest.approx(1.5)
    variance = 0.25**2 * answers[:20].var() / 20 * 0.8 + 0.75**2 * answers[20:].var() / 10 * (1 - 10 / 300)
    half = (whole.high - whole.low) / 2
    assert stats.t.ppf(0.975, 30) < half / variance.sqrt().item() < stats.t.ppf(0.975, 8)


def test_a_stratum_that_is_answered_whole_adds_no_uncertainty():
    answers = torch.tensor([5.0] * 3 + [1.0, 2.0] * 10, dtype=torch.float64)
    flat = torch.zeros(103, dtype=torch.float64)
    _, each = stratified(answers, flat[:23], ["few"] * 3 + ["many"] * 20, flat, ["few"] * 3 + ["many"] * 100)
    assert (each["few"].low, each["few"].high) == (5, 5)


def test_what_cannot_be_used_is_refused_in_one_line():
    answers, predicted, pool, _ = numbers()
    with pytest.raises(InputError, match="stratum 'b' has 3 answers, and needs at least 10"):
        stratified(answers, predicted, ["a"] * 57 + ["b"] * 3, pool, ["a"] * 500 + ["b"] * 100)
    with pytest.raises(InputError, match="the pool has no stratum 'c', and an answer is in it"):
        stratified(answers, predicted, ["c"] * 60, pool, ["a"] * 600)
    with pytest.raises(InputError, match="give pool_groups, the group of every item of the pool"):
        mean(answers, predicted, pool, groups=[1] * 60)
    with pytest.raises(InputError, match="the pool has no group 1, and an answer is in it"):
        mean(answers, predicted, pool, groups=[1] * 60, pool_groups=[2] * 600)
    with pytest.raises(InputError, match="answers must be finite, and contains NaN"):
        mean(answers / 0 * 0, predicted, pool)


def test_ninety_five_of_a_hundred_intervals_hold_the_mean_and_counting_predictions_does_not():
    held = counted = 0
    for seed in range(400):
        answers, predicted, pool, truth = numbers(n=40, size=400, seed=seed)
        found = mean(answers, predicted, pool)
        held += found.low <= truth.mean() <= found.high
        taken = mean(pool[:40], 0 * pool[:40], 0 * pool)  # predictions read as if they were answers
        counted += taken.low <= truth.mean() <= taken.high
    assert 0.92 <= held / 400 <= 0.98
    assert counted / 400 < 0.5  # the control: the predictions are half a unit too high

import pytest
import torch

from askwise.errors import InputError
from askwise.selection import select

SCORES = torch.tensor([0.1, 0.4, 0.2, 0.8])


def first_picks(name, seeds=600, **options):
    picks = [select(name, scores=SCORES, count=1, seed=s, **options).item() for s in range(seeds)]
    return torch.tensor(picks).bincount(minlength=4) / seeds


@pytest.mark.parametrize(
    ("name", "beta", "chances"),
    [
        ("power", 1.0, SCORES),
        ("power", 2.0, SCORES**2),
        ("softmax", 3.0, (3 * SCORES).exp()),
        ("softrank", 1.0, torch.tensor([1 / 4, 1 / 2, 1 / 3, 1])),
        ("softrank", 2.0, torch.tensor([1 / 4, 1 / 2, 1 / 3, 1]) ** 2),
    ],
)
def test_first_picks_follow_the_printed_chances(name, beta, chances):
    assert first_picks(name, beta=beta).tolist() == pytest.approx(
        (chances / chances.sum()).tolist(), abs=0.06
    )


def test_later_picks_are_drawn_from_what_is_left():
    seconds = {0: 0, 1: 0, 2: 0}
    for seed in range(1000):
        first, second = select("power", scores=SCORES, count=2, seed=seed).tolist()
        if first == 3:
            seconds[second] += 1
    total = sum(seconds.values())
    assert [n / total for n in seconds.values()] == pytest.approx([1 / 7, 4 / 7, 2 / 7], abs=0.06)


@pytest.mark.parametrize("name", ["power", "softmax", "softrank"])
def test_a_large_beta_is_top_k(name):
    scores = torch.rand(50, generator=torch.Generator().manual_seed(0)).sort().values
    found = select(name, scores=scores, count=5, beta=1e6)
    assert found.tolist() == [49, 48, 47, 46, 45]


def test_power_draws_scores_of_zero_last():
    scores = torch.tensor([0.0, 1.0, 0.0, 1e-30])
    for seed in range(20):
        assert set(select("power", scores=scores, count=2, seed=seed).tolist()) == {1, 3}
    assert set(select("power", scores=torch.zeros(5), count=5).tolist()) == set(range(5))


def test_power_refuses_negative_scores():
    with pytest.raises(InputError, match=r"the lowest is -0\.5; use softmax or softrank"):
        select("power", scores=torch.tensor([1.0, -0.5]), count=1)
    select("softrank", scores=torch.tensor([1.0, -0.5]), count=1)


@pytest.mark.parametrize("name", ["power", "softmax", "softrank"])
@pytest.mark.parametrize("beta", [0.0, -1.0, float("nan"), float("inf")])
def test_beta_must_be_finite_and_above_zero(name, beta):
    with pytest.raises(InputError, match="beta must be a finite number above 0"):
        select(name, scores=SCORES, count=1, beta=beta)

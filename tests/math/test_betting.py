"""The capital of a gambler: a fair game under the true mean, whoever looks how often."""

import itertools
import math

import pytest
import torch

from askwise.math.betting import last_kept, log_capital

SHARES = (0.1, 0.5, 0.95)


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


def test_the_capital_is_the_product_of_what_each_value_pays():
    values, mean, edge = f64([[0.0, 1.0, 0.0]]), f64(0.25), f64([1.0])
    paid = [math.prod(1 - share * (z - 0.25) / 0.75 for z in (0.0, 1.0, 0.0)) for share in SHARES]
    assert log_capital(values, mean, edge, SHARES).exp().item() == pytest.approx(sum(paid) / 3)


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_the_game_is_fair_over_all_sequences_of_a_small_region(edge):
    region = (0.0, 0.2, 1.0, 0.6)
    every = torch.tensor(list(itertools.product(region, repeat=5)), dtype=torch.float64).unsqueeze(1)
    mean = torch.full((len(every),), sum(region) / 4, dtype=torch.float64)
    capital = log_capital(every, mean, torch.full((len(every), 1), edge, dtype=torch.float64), SHARES).exp()
    assert capital.mean().item() == pytest.approx(1)


def test_a_mean_at_the_edge_is_refuted_by_any_other_value_and_by_none_that_lies_there():
    edge = f64([0.0])
    assert log_capital(f64([[0.0, 0.0]]), f64(0.0), edge, SHARES).item() == pytest.approx(0)
    assert log_capital(f64([[0.0, 0.3]]), f64(0.0), edge, SHARES).item() == math.inf


def test_the_border_is_found_on_its_far_side():
    found = last_kept(lambda m: m >= 0.3, f64([0.0]), f64([1.0]))
    assert 0.3 <= found.item() < 0.3 + 1e-12
    assert last_kept(lambda m: m > 2, f64([0.0]), f64([1.0])).item() == 1.0

import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import bald, max_entropy


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_bald_equals_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    expected = [brute_force.bald(item) for item in brute_force.items(log_probs)]
    assert bald(log_probs).tolist() == pytest.approx(expected, abs=1e-12)


def test_bald_is_log_two_when_sure_draws_disagree():
    assert bald(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).log()).item() == pytest.approx(math.log(2))


def test_bald_is_zero_when_draws_agree():
    same = brute_force.predictions(5, 1, 4).expand(5, 7, 4)
    assert bald(same).tolist() == pytest.approx([0] * 5, abs=1e-12)


def test_bald_is_finite_where_a_class_is_impossible():
    log_probs = torch.tensor([[[1.0, 0.0], [0.4, 0.6]]]).log()
    p = log_probs.exp()
    mean = p.mean(1)
    careless = -(mean * mean.log()).sum(-1) + (p * p.log()).sum(-1).mean(1)  # DeepAL's
    assert careless.isnan().all()  # control
    (item,) = brute_force.items(log_probs)
    assert bald(log_probs).item() == pytest.approx(brute_force.bald(item))


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 8),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_bald_lies_between_zero_and_entropy_and_entropy_below_log_c(seed, draws, classes, scale, dtype):
    log_probs = brute_force.predictions(4, draws, classes, seed=seed, scale=scale, certain=0.2).to(dtype)
    entropy, eps = max_entropy(log_probs), 10 * torch.finfo(dtype).eps
    assert (bald(log_probs) >= 0).all()
    assert (bald(log_probs) <= entropy + eps).all()
    assert (entropy <= math.log(classes) + eps).all()
    assert (bald(log_probs) <= math.log(draws) + eps).all()


def test_only_rounding_is_cut_off_below_zero():
    log_probs = brute_force.predictions(500, 1, 10).float()
    exact = [brute_force.bald(item) for item in brute_force.items(log_probs)]
    assert bald(log_probs).tolist() == pytest.approx(exact, abs=1e-6)
    assert (bald(log_probs) == 0).any()

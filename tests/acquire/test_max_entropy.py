import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import max_entropy


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_max_entropy_equals_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    expected = [brute_force.max_entropy(item) for item in brute_force.items(log_probs)]
    assert max_entropy(log_probs).tolist() == pytest.approx(expected)


def test_max_entropy_is_of_the_mean_prediction_not_the_mean_of_entropies():
    log_probs = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).log()  # each sure, and they disagree
    assert max_entropy(log_probs).item() == pytest.approx(math.log(2))
    (item,) = brute_force.items(log_probs)
    assert brute_force.expected_entropy(item) == 0  # control: modAL's mc_dropout_max_entropy


def test_max_entropy_is_written_once_for_all_sites():
    log_probs = brute_force.predictions(2, 4, 3, 2, 5, certain=0.2)
    whole = max_entropy(log_probs)
    assert whole.shape == (2, 3, 2)
    assert torch.allclose(whole[:, 1, 0], max_entropy(log_probs[:, :, 1, 0]))

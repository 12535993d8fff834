import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import mean_std


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_mean_std_equals_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    expected = [brute_force.mean_std(item) for item in brute_force.items(log_probs)]
    assert mean_std(log_probs).tolist() == pytest.approx(expected, abs=1e-12)


def test_mean_std_of_sure_draws_that_disagree_is_a_half():
    assert mean_std(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).log()).item() == pytest.approx(0.5)


def test_mean_std_of_one_draw_is_zero_and_not_nan():
    log_probs = brute_force.predictions(3, 1, 4)
    assert mean_std(log_probs).tolist() == [0, 0, 0]
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert log_probs.exp().std(1).isnan().all()  # control: divided by T - 1


def test_mean_std_keeps_small_spreads_that_squares_lose():
    p = torch.tensor([[0.5 + 1e-5], [0.5 - 1e-5]]).repeat(50, 1)
    log_probs = torch.cat([p, 1 - p], dim=1).log()[None]
    assert mean_std(log_probs).item() == pytest.approx(1e-5, rel=0.05)
    squares = (log_probs.exp().square().mean(1) - log_probs.exp().mean(1).square()).clamp(min=0).sqrt()
    assert squares.mean().item() != pytest.approx(1e-5, rel=0.5)  # control: E[p^2] - E[p]^2

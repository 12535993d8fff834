import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import least_confidence, variation_ratios


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_both_forms_equal_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    items = brute_force.items(log_probs)
    printed = [brute_force.least_confidence(item) for item in items]
    assert variation_ratios(log_probs).tolist() == pytest.approx(printed)
    assert least_confidence(log_probs).tolist() == pytest.approx(printed)
    counted = [brute_force.vote_ratio(item) for item in items]
    assert variation_ratios(log_probs, votes=True).tolist() == pytest.approx(counted)


def test_the_two_forms_differ_where_unsure_draws_agree():
    log_probs = torch.tensor([[[0.6, 0.4], [0.6, 0.4]]]).log()
    assert variation_ratios(log_probs).item() == pytest.approx(0.4)
    assert variation_ratios(log_probs, votes=True).item() == 0


def test_a_draw_with_equal_best_classes_splits_its_vote():
    log_probs = torch.tensor([[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]]).log()
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):  # no class is favoured for coming first
        assert variation_ratios(log_probs[..., order], votes=True).item() == pytest.approx(2 / 3)


@pytest.mark.parametrize("votes", [False, True])
def test_sites_are_scored_each_for_itself(votes):
    log_probs = brute_force.predictions(2, 5, 3, 2, 4, certain=0.2)
    whole = variation_ratios(log_probs, votes=votes)
    assert whole.shape == (2, 3, 2)
    assert torch.allclose(whole[:, 2, 1], variation_ratios(log_probs[:, :, 2, 1], votes=votes))

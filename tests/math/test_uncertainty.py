import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.math.links import log_softplus
from askwise.math.uncertainty import entropies, variances


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_entropies_equal_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    items = brute_force.items(log_probs)
    uncertainty = entropies(log_probs)
    assert uncertainty.total.tolist() == pytest.approx([brute_force.max_entropy(i) for i in items])
    assert uncertainty.epistemic.tolist() == pytest.approx([brute_force.bald(i) for i in items], abs=1e-12)
    assert uncertainty.aleatoric.tolist() == pytest.approx([brute_force.expected_entropy(i) for i in items])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_variances_sum_to_p_times_one_minus_p(seed, draws, softplus):
    log_probs = brute_force.predictions(2, draws, 3, 4, seed=seed, certain=0.3)
    if softplus:
        log_probs = log_softplus(5 * torch.randn(log_probs.shape, dtype=torch.float64, generator=_rng(seed)))
    uncertainty = variances(log_probs)
    p = log_probs.exp().mean(1)
    assert torch.equal(uncertainty.total, uncertainty.epistemic + uncertainty.aleatoric)
    assert torch.allclose(uncertainty.total, p * (1 - p), rtol=0, atol=1e-14)


def _rng(seed):
    return torch.Generator().manual_seed(seed)


def test_variances_equal_loops():
    log_probs = brute_force.predictions(2, 5, 3, certain=0.3)
    uncertainty = variances(log_probs)
    for n, item in enumerate(brute_force.items(log_probs)):
        for c, mean in enumerate(brute_force.mean(item)):
            epistemic = sum((draw[c] - mean) ** 2 for draw in item) / len(item)
            aleatoric = sum(draw[c] - draw[c] ** 2 for draw in item) / len(item)
            assert uncertainty.epistemic[n, c].item() == pytest.approx(epistemic)
            assert uncertainty.aleatoric[n, c].item() == pytest.approx(aleatoric)


def test_sure_draws_that_disagree_have_only_epistemic_uncertainty():
    log_probs = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).log()
    uncertainty = entropies(log_probs)
    assert uncertainty.epistemic.item() == pytest.approx(math.log(2))
    assert uncertainty.aleatoric.item() == 0
    assert variances(log_probs).epistemic[0].tolist() == pytest.approx([0.25, 0.25])
    assert variances(log_probs).aleatoric[0].tolist() == [0, 0]


def test_even_draws_that_agree_have_only_aleatoric_uncertainty():
    uncertainty = entropies(torch.full((1, 3, 2), 0.5).log())
    assert uncertainty.epistemic.item() == pytest.approx(0, abs=1e-6)
    assert uncertainty.aleatoric.item() == pytest.approx(math.log(2))


def test_rounding_never_makes_uncertainty_negative():
    log_probs = brute_force.predictions(200, 1, 10, seed=3).float()
    raw = entropies(log_probs).total - entropies(log_probs).aleatoric
    assert (raw < 0).any()  # control: there is rounding to remove
    assert (entropies(log_probs).epistemic >= 0).all()


def test_uncertainty_has_the_shape_of_the_sites():
    log_probs = brute_force.predictions(2, 3, 4, 5, 6)
    assert entropies(log_probs).total.shape == (2, 4, 5)
    assert variances(log_probs).total.shape == (2, 4, 5, 6)

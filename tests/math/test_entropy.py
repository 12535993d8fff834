import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.math.entropy import entropies, entropy, marginal


def items_last(log_probs):
    """The same numbers in the memory layout the predictor uses."""
    return log_probs.movedim(0, -1).contiguous().movedim(-1, 0)


def test_entropy_of_even_classes_is_log_of_their_number():
    assert entropy(torch.full((7,), 1 / 7).log()).item() == pytest.approx(math.log(7))


def test_entropy_of_a_sure_prediction_is_zero_and_not_nan():
    sure = torch.tensor([[0.0, 1.0, 0.0]]).log()
    assert entropy(sure).tolist() == [0.0]
    assert (-(sure.exp() * sure).sum(-1)).isnan().all()  # control: DeepAL's formula


def test_entropy_leaves_out_only_the_impossible_class():
    assert entropy(torch.tensor([0.5, 0.5, 0.0]).log()).item() == pytest.approx(math.log(2))


def test_entropy_keeps_every_axis_but_the_last():
    assert entropy(brute_force.predictions(2, 3, 4, 5, 6)).shape == (2, 3, 4, 5)
    assert entropy(brute_force.predictions(0, 3, 4)).shape == (0, 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_entropies_equal_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    items = brute_force.items(log_probs)
    total, expected = ([f(i) for i in items] for f in (brute_force.max_entropy, brute_force.expected_entropy))
    assert entropy(marginal(log_probs)).tolist() == pytest.approx(total)
    of_mean, of_each = entropies(log_probs)
    assert of_mean.tolist() == pytest.approx(total)
    assert of_each.tolist() == pytest.approx(expected)


def test_marginal_is_the_log_of_the_mean_even_where_probabilities_underflow():
    log_probs = torch.tensor([[[-200.0, 0.0], [-202.0, 0.0]]])  # exp(-200) is 0 in float32
    expected = -200 + math.log((1 + math.exp(-2)) / 2)
    assert marginal(log_probs)[0, 0].item() == pytest.approx(expected)
    assert log_probs.exp().mean(1).log()[0, 0].item() == -math.inf  # control: averaging probabilities


def test_marginal_of_an_impossible_class_is_minus_infinity():
    log_probs = torch.tensor([[[0.0, 1.0], [0.0, 1.0]]]).log()
    assert marginal(log_probs).tolist() == [[-math.inf, 0.0]]


def test_order_of_draws_does_not_matter():
    log_probs = brute_force.predictions(4, 6, 2, 3, certain=0.3)
    turned = log_probs[:, torch.tensor([3, 1, 5, 0, 2, 4])]
    assert torch.allclose(marginal(log_probs), marginal(turned))
    for one, other in zip(entropies(log_probs), entropies(turned), strict=True):
        assert torch.allclose(one, other)


@pytest.mark.parametrize("shape", [(5, 4, 3), (5, 4, 2, 3), (5, 4, 2, 2, 3)])
def test_memory_layout_does_not_matter(shape):
    log_probs = brute_force.predictions(*shape, certain=0.2)
    for function in (entropy, marginal, lambda found: torch.stack(entropies(found))):
        assert torch.allclose(function(log_probs), function(items_last(log_probs)))


def test_inputs_are_left_alone():
    log_probs = brute_force.predictions(3, 4, 5, certain=0.5)
    before = log_probs.clone()
    entropy(log_probs), marginal(log_probs), entropies(log_probs)
    assert torch.equal(log_probs, before)

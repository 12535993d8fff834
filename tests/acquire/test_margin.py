import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import margin
from askwise.errors import InputError


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_margin_equals_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    expected = [brute_force.margin(item) for item in brute_force.items(log_probs)]
    assert margin(log_probs).tolist() == pytest.approx(expected)


def test_margin_is_one_when_two_classes_are_even_and_zero_when_sure():
    log_probs = torch.tensor([[[0.5, 0.5, 0.0]], [[0.0, 1.0, 0.0]]]).log()
    assert margin(log_probs).tolist() == [1, 0]


def test_across_tags_compares_the_two_likeliest_tags():
    on = torch.tensor([[[0.9, 0.2, 0.6], [0.7, 0.2, 0.8]]])  # one item, two draws, three tags
    log_probs = torch.stack([1 - on, on], dim=-1).log()
    assert margin(log_probs, across_tags=True).tolist() == pytest.approx([1 - (0.8 - 0.7)])
    assert margin(log_probs).shape == (1, 3)  # control: by default each tag is a site


def test_margin_of_one_class_is_refused():
    with pytest.raises(InputError, match="compares two answers, and there is 1"):
        margin(torch.zeros(2, 3, 1))


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 3), (2, 3, 4, 4, 2)])
def test_across_tags_refuses_what_is_not_multi_label(shape):
    with pytest.raises(InputError, match=r"across_tags reads log_probs \[N, T, L, 2\]"):
        margin(brute_force.predictions(*shape), across_tags=True)

import math

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import top_u
from askwise.errors import InputError


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.data())
def test_top_u_equals_brute_force(seed, draws, classes, data):
    u = data.draw(st.integers(1, classes))
    log_probs = brute_force.predictions(3, draws, classes, seed=seed)
    expected = [brute_force.top_u(item, u) for item in brute_force.items(log_probs)]
    assert top_u(log_probs, u=u).tolist() == pytest.approx(expected, abs=1e-12)


def test_top_u_is_zero_when_draws_agree():
    same = brute_force.predictions(1, 1, 8).expand(1, 4, 8)
    assert top_u(same, u=3).item() == pytest.approx(0, abs=1e-12)


def ranked(*orders):
    """One item whose draws rank the labels in these orders, best first."""
    draws = [[2.0 ** -order.index(c) for c in range(len(order))] for order in orders]
    return torch.tensor(draws).log_softmax(-1)[None]


def test_top_u_is_log_of_c_over_u_when_votes_spread_evenly():
    log_probs = ranked([0, 1, 2, 3, 4, 5], [2, 3, 0, 1, 4, 5], [4, 5, 0, 1, 2, 3])
    assert top_u(log_probs, u=2).item() == pytest.approx(math.log(6 / 2))


def test_top_u_sees_that_different_sets_overlap():
    log_probs = ranked([0, 1, 2, 3, 4], [0, 2, 1, 3, 4], [0, 3, 1, 2, 4], [0, 4, 1, 2, 3])
    expected = brute_force.entropy([1 / 2, 1 / 8, 1 / 8, 1 / 8, 1 / 8]) - math.log(2)
    assert top_u(log_probs, u=2).item() == pytest.approx(expected)
    assert expected < math.log(4) / 1.9  # control: counting whole sets gives log T, their ceiling


def test_labels_equal_to_the_last_place_share_it_whatever_their_order():
    log_probs = torch.tensor([[[0.5, 0.25, 0.25, 0.0]]]).log()
    shares = [0.5, 0.25, 0.25]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        expected = brute_force.entropy(shares) - math.log(2)
        assert top_u(log_probs[..., order], u=2).item() == pytest.approx(expected)


def test_sure_draws_are_finite():
    log_probs = brute_force.predictions(5, 4, 3, certain=1.0)
    assert top_u(log_probs, u=2).isfinite().all()


def test_across_tags_ranks_the_tags_of_each_draw():
    on = torch.tensor([[[0.9, 0.2, 0.6], [0.1, 0.2, 0.8], [0.3, 0.2, 0.4], [0.9, 0.1, 0.2]]])
    log_probs = torch.stack([1 - on, on], dim=-1).log()
    assert top_u(log_probs, u=1, across_tags=True).tolist() == pytest.approx([math.log(2)])
    expected = brute_force.entropy([3 / 8, 1 / 8, 4 / 8]) - math.log(2)
    assert top_u(log_probs, u=2, across_tags=True).tolist() == pytest.approx([expected])
    assert top_u(log_probs, u=2).shape == (1, 3)  # control: by default each tag is a site


@pytest.mark.parametrize(("u", "message"), [(4, "at most the number of labels, 3, not 4"), (0, "at least 1")])
def test_impossible_u_is_refused(u, message):
    with pytest.raises(InputError, match=message):
        top_u(brute_force.predictions(2, 3, 3), u=u)

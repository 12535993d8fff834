import sys

import brute_force
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.acquire import bald, score
from askwise.acquire.epig import epig
from askwise.errors import InputError


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0]))
def test_epig_equals_brute_force(seed, draws, classes, certain):
    log_probs = brute_force.predictions(3, draws, classes, seed=seed, certain=certain)
    targets = brute_force.predictions(4, draws, 3, seed=seed + 1, certain=certain)
    aims = brute_force.items(targets)
    expected = [brute_force.epig(item, aims) for item in brute_force.items(log_probs)]
    assert epig(log_probs, targets=targets).tolist() == pytest.approx(expected, abs=1e-12)


def test_epig_with_sites_averages_over_all_target_sites():
    log_probs, targets = brute_force.predictions(3, 4, 2, 5), brute_force.predictions(2, 4, 3, 2, seed=1)
    aims = brute_force.items(targets.permute(0, 2, 1, 3).flatten(0, 1))
    rows = brute_force.items(log_probs.permute(0, 2, 1, 3).flatten(0, 1))
    expected = torch.tensor([brute_force.epig(row, aims) for row in rows], dtype=torch.float64)
    assert torch.allclose(epig(log_probs, targets=targets), expected.view(3, 2))


def test_chunks_do_not_change_epig():
    module = sys.modules["askwise.acquire.epig"]  # the package has a function of this name
    log_probs, targets = brute_force.predictions(7, 4, 3), brute_force.predictions(5, 4, 2, seed=1)
    whole = epig(log_probs, targets=targets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SIDE", 4)
        assert torch.allclose(epig(log_probs, targets=targets), whole)


def test_epig_of_a_target_that_reveals_the_draw_is_bald():
    log_probs = brute_force.predictions(6, 5, 3)
    revealing = torch.eye(5, dtype=torch.float64).log()[None]  # its label names the draw
    assert torch.allclose(epig(log_probs, targets=revealing), bald(log_probs))


def test_epig_ignores_what_targets_do_not_depend_on():
    log_probs = brute_force.predictions(6, 5, 3, scale=4.0)
    indifferent = brute_force.predictions(3, 1, 2).expand(3, 5, 2)
    assert epig(log_probs, targets=indifferent).tolist() == pytest.approx([0] * 6, abs=1e-12)
    assert (bald(log_probs) > 0.1).all()  # control: bald would ask


def test_float32_epig_is_near_float64():
    log_probs, targets = brute_force.predictions(50, 20, 10), brute_force.predictions(300, 20, 10, seed=1)
    single = epig(log_probs.float(), targets=targets.float())
    assert single.dtype == torch.float32
    assert torch.allclose(single.double(), epig(log_probs, targets=targets), atol=1e-6)


def test_other_draws_and_no_targets_are_refused():
    log_probs = brute_force.predictions(3, 4, 2)
    with pytest.raises(InputError, match="same draws, and have 5 and 4"):
        score("epig", log_probs, targets=brute_force.predictions(3, 5, 2))
    with pytest.raises(InputError, match="at least one target"):
        score("epig", log_probs, targets=brute_force.predictions(0, 4, 2))
    with pytest.raises(InputError, match="needs targets"):
        score("epig", log_probs)
    with pytest.raises(InputError, match="targets holds probabilities"):
        score("epig", log_probs, targets=log_probs.exp())

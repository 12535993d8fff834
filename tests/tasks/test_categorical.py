"""What tasks with classes share: the likelihood of labels at any sites."""

import math

import brute_force
import pytest
import torch

from askwise.tasks import categorical


@pytest.mark.parametrize("sites", [(), (3,), (2, 3)])
def test_the_log_likelihood_is_of_the_mean_probability(sites) -> None:
    log_probs = brute_force.predictions(4, 5, *sites, 3)
    labels = torch.randint(3, (4, *sites), generator=torch.Generator().manual_seed(0))
    found = categorical.log_likelihood(log_probs, labels)
    mean = log_probs.exp().mean(dim=1).reshape(-1, 3)
    expected = [math.log(mean[at, label]) for at, label in enumerate(labels.flatten())]
    assert found.shape == labels.shape
    assert found.flatten().tolist() == pytest.approx(expected)


def test_probabilities_too_small_for_a_float_keep_their_logarithm() -> None:
    sure = torch.tensor([[[0.0, -500.0]]])
    assert categorical.log_likelihood(sure, torch.tensor([1])).item() == -500


def test_sites_are_averaged_within_an_item_before_items_are() -> None:
    log_probs = torch.full((2, 2, 4), math.log(0.5))
    log_probs[1] = torch.tensor([math.log(0.25), math.log(0.75)])[:, None]
    labels = torch.tensor([[0, 9, 9, 9], [0, 0, 0, 0]])
    found = categorical.nll(log_probs, labels, None, ignore=9)
    assert found.item() == pytest.approx((math.log(2) + math.log(4)) / 2)
    plain = categorical.nll(log_probs, labels.clamp(max=1), None, ignore=None)
    assert plain.item() == pytest.approx((4 * math.log(2) + 4 * math.log(4)) / 8)

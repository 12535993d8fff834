"""What tells one network from another."""

import torch
from torch import nn

from askwise.math.digest import network_digest


def network(seed=0, wide=3) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, wide), nn.BatchNorm1d(wide))


def test_equal_networks_have_equal_digests():
    assert network_digest(network(), weights=True) == network_digest(network(), weights=True)
    assert len(network_digest(network(), weights=True)) == 16


def test_weights_count_only_if_asked_for():
    assert network_digest(network(0), weights=False) == network_digest(network(1), weights=False)
    assert network_digest(network(0), weights=True) != network_digest(network(1), weights=True)
    shifted = network()
    shifted[1].running_mean += 1
    assert network_digest(shifted, weights=True) != network_digest(network(), weights=True)


def test_structure_always_counts():
    assert network_digest(network(), weights=False) != network_digest(network(wide=4), weights=False)
    rectified = nn.Sequential(*network(), nn.ReLU())
    assert network_digest(rectified, weights=False) != network_digest(network(), weights=False)

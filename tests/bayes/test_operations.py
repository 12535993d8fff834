"""Operations are counted as torch counts them, and its compiler stays where it is."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import askwise as aw
from askwise.bayes.operations import operations


class Attention(nn.Module):
    """Operations without a module of their own, one of them made of others."""

    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(x, x, torch.einsum("nld,nmd->nlm", x, x) @ x)


NETWORKS = {
    "dense": (aw.nets.mlp(6, 3, hidden=(8,)), (6,)),
    "convolutions": (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten()),
        (3, 8, 8),
    ),
    "attention": (Attention(), (5, 8)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_as_many_operations_are_counted_as_torch_counts(name):
    network, shape = NETWORKS[name]
    x = torch.randn(2, *shape, generator=torch.Generator().manual_seed(0))
    network.eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network(x)
    assert operations(network, x) == counter.get_total_flops() > 0


def test_counting_does_not_load_torchs_compiler():
    program = """
import sys, torch
from askwise.bayes.operations import operations
operations(torch.nn.Linear(3, 2), torch.zeros(1, 3))
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
